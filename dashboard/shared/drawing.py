"""Inline components from their files, the conversation among them, and Plotly figures in the colours of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import access_checks
from dashboard.shared.charts.metric_charts import legible
from dashboard.shared.chat.conversation import Conversation
from dashboard.shared.formatting import COLORS
from evaluation.score import LOW_EVIDENCE

_SHARED = Path(__file__).parent
MARKS = _SHARED / "marks"
"""The part that all pictures made of marks share."""


def define_component(name: str, *stems: Path) -> Callable[..., Any]:
    """Define a component from ``<stem>.js`` and ``<stem>.css``, behind what all components share.

    Args:
        name: The component's name; each is defined once.
        stems: Its parts in their order, each a script; some have no style.
    """

    def text(ending: str) -> str:
        files = (stem.with_suffix(ending) for stem in (_SHARED / "elements", *stems))
        return "\n".join(file.read_text("utf-8") for file in files if ending == ".js" or file.exists())

    verdicts = f"const COLORS = {json.dumps(dict(COLORS))};\nconst WITH_CARE = {json.dumps(LOW_EVIDENCE)};"
    return st.components.v2.component(name, css=text(".css"), js=f"{verdicts}\n{text('.js')}")


cockpit_rows = define_component("dramaturg_cockpit_rows", MARKS, _SHARED / "cockpit_rows")
"""Rows of marks: metrics before and after."""

found_rows = define_component("dramaturg_found_rows", MARKS, _SHARED / "found_rows")
"""Messages with their places, each of which opens in its game."""


def marks_legend(now: str, before: str, dot: str, *more: str, band: str = "95 % interval") -> list[str]:
    """The legend of marks, in one order and one wording on all pages: now, before, small dots, then what else there is.

    Args:
        now: What the filled mark is.
        before: What the open mark is.
        dot: What a small dot is.
        more: Further entries, such as the threshold, with their own signs.
        band: What the band behind the filled mark is.
    """
    return [f"○ {before}", f"● {now}, {band}", f"· {dot}", *more]


def draw_chart(
    figure: go.Figure, *, key: str, alt: str, config: Mapping[str, Any] | None = None, **options: Any
) -> None:
    """Draws a figure.

    Args:
        figure: Its words get the colour of the page's text, light and dark.
        key: Tells it from the page's other figures.
        alt: The figure in words, for people who do not see it.
        config: Plotly's; without its tools when left out.
        options: Passed on to ``st.plotly_chart``.
    """
    st.plotly_chart(legible(figure), key=key, alt=alt, config=dict(config or {"displayModeBar": False}), **options)


_CHAT_PARTS = ("chat_rows", "chat_steps", "chat_strip", "chat_view")
_component = define_component("dramaturg_chat_view", *(_SHARED / "chat" / part for part in _CHAT_PARTS))


def chat_view(
    conversation: Conversation, focus: Mapping[str, int | bool], *, key: str, on_open: Callable[[], None]
) -> None:
    """Mounts the view.

    Args:
        conversation: What it draws.
        focus: Where it scrolls to, from ``focus_on``. All of the data is sent again whenever any of it differs, so this
            must stay the same while a person clicks.
        key: Tells it from others; without untrusted text.
        on_open: Runs after a label or number was clicked; the click is ``st.session_state[key].open``.
    """
    _mount_chat(_chat_data(conversation, focus), key, on_open)


def two_chats(games: Mapping[str, Conversation], *, key: str, on_open: Callable[[], None]) -> None:
    """Mounts two conversations beside each other, below one finder and one choice of verdicts that move both.

    Args:
        games: What is drawn, by the title that stands above it.
        key: As :func:`chat_view` takes it.
        on_open: As there; the click says which ``game`` is meant, 0 or 1, and no message for the game as a whole.
    """
    start = {"row": -1, "metric": -1, "count": 1, "glance": False}
    _mount_chat({"games": [_chat_data(one, start) | {"title": title} for title, one in games.items()]}, key, on_open)


def _chat_data(conversation: Conversation, focus: Mapping[str, int | bool]) -> dict[str, Any]:
    body = {"id": conversation.id, "version": conversation.version, "body": conversation.body}
    return body | {"focus": dict(focus)}


def _mount_chat(data: Mapping[str, Any], key: str, on_open: Callable[[], None]) -> None:
    _component(key=key, data=data, on_open_change=access_checks.event("chat_open", on_open))
