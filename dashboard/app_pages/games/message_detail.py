"""The panel beside the conversation with the rows of every metric about one message."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.app_pages.games.ledger_row import ledger_row
from dashboard.app_pages.games.override_form import mark_reference_section
from dashboard.shared.chat.conversation import worst_verdict
from dashboard.shared.formatting import look
from dashboard.shared.notices import plain
from dashboard.shared.queries import OpenTranscript
from evaluation.judging.fencing import KINDS, flags
from evaluation.rubric.definitions import DEFINITIONS, MEMORY_ACCURACY
from evaluation.score import LedgerRow
from evaluation.text.display import shortened
from evaluation.transcript import Message

_MOST_PLACES = 6
_LONGEST_PLACE = 120


def flag_notice(message: Message) -> None:
    """Says what about the message is suspicious, and where; nothing for an honest one."""
    raised = flags(message.text)
    if not raised:
        return
    kinds = list(dict.fromkeys(flag.kind for flag in raised))
    st.warning(
        "This message " + "; it ".join(KINDS[kind] for kind in kinds) + ". No score changes by that: "
        "judges are told to obey nothing inside a transcript.",
        icon=":material/flag:",
    )
    for flag in raised[:_MOST_PLACES]:
        plain(f"{ascii_where_hidden(shortened(message.text[flag.start : flag.end], _LONGEST_PLACE))}")


def ascii_where_hidden(text: str) -> str:
    """The text, with what cannot be seen or could be mistaken written as codes."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]


_MOST_ROWS = 6


def message_detail(opened: OpenTranscript, message_id: str, metric: str | None) -> None:
    """Why a message got its verdict on ``metric``, in full, and below it what the other metrics say, to be opened.

    Args:
        opened: The transcript.
        message_id: One of its messages.
        metric: ``None`` lists all metrics alike.
    """
    message = opened.transcript.message(message_id)
    assert message is not None
    rows = opened.concerning.get(message_id, {})
    number = message.index + 1
    st.subheader(f"{DEFINITIONS[metric].label}, message {number}" if metric else f"Message {number}", anchor=False)
    flag_notice(message)
    if metric:
        _whole(opened, metric, rows.get(metric, ()), message_id)
    others = [name for name in DEFINITIONS if name in rows and name != metric]
    if others:
        st.caption("Other verdicts on this message" if metric else "Verdicts on this message")
    elif not metric:
        st.caption("No metric has anything to say about this message.")
    for name in others:
        with st.expander(f"{look(worst_verdict(rows[name])).symbol} {DEFINITIONS[name].label}"):
            _rows(opened, name, rows[name], message_id)
    if metric in (None, MEMORY_ACCURACY.name):
        mark_reference_section(message, opened.transcript)


def _whole(opened: OpenTranscript, metric: str, rows: Sequence[LedgerRow], message_id: str) -> None:
    if not rows:
        st.caption("This metric has nothing to say about this message.")
    _rows(opened, metric, rows, message_id)
    result = opened.results.get(metric)
    if result is not None and result.remarks:
        st.caption("About the whole game")
        plain("\n".join(result.remarks))


def _rows(opened: OpenTranscript, metric: str, rows: Sequence[LedgerRow], message_id: str) -> None:
    for place, row in enumerate(rows[:_MOST_ROWS]):
        with st.container(border=True):
            ledger_row(opened, row, message_id, f"{metric}_{place}")
    if len(rows) > _MOST_ROWS:
        st.caption(f"{len(rows) - _MOST_ROWS} more concern this message; all stand in the ledger.")
