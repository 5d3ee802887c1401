"""A ledger row as an example: place, quotation, reason, and a link to it."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.notices import plain
from dashboard.shared.state import LEDGER
from evaluation.comparison.movers import Example
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import shortened

_LONGEST_REASON = 300
_LONGEST_QUOTE = 200
_LONGEST_NAME = 60


def example_row(example: Example, metric: str) -> None:
    """Shows one example of a metric, with a link to its message or ledger."""
    link = {"transcript": example.transcript_id}
    if example.message_id:
        link |= {"message": example.message_id, "metric": metric}
    else:
        link |= {"show": LEDGER, "rows_of": DEFINITIONS[metric].label}
    quote = f"{example.player}: {shortened(example.text, _LONGEST_QUOTE)}" if example.text else ""
    lines = (shortened(example.game, _LONGEST_NAME), quote, shortened(example.reason, _LONGEST_REASON))
    with st.container(gap=None):
        plain("\n".join(filter(None, lines)))
        transcript_link("Open the message" if example.message_id else "Open the ledger", **link)


def transcript_link(label: str, **parameters: str) -> None:
    """A link to the Games page; ``parameters`` are those of its address."""
    st.page_link("app_pages/games/page.py", label=label, icon=":material/arrow_forward:", query_params=parameters)
