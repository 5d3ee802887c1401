"""The chat view: a transcript as a conversation with the verdicts of its metrics on every message.

What it shows is made by ``dashboard.shared.chat.conversation``, which ``dashboard.shared.state`` imports as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from dashboard import access_checks
from dashboard.shared.chat.conversation import Conversation
from dashboard.shared.drawing import component_script

_FOLDER = Path(__file__).parent
_PARTS = ("chat_rows.js", "chat_steps.js", "chat_strip.js", "chat_view.js")
_STYLES = ("chat_view.css", "chat_strip.css")
_component = st.components.v2.component(
    "dramaturg_chat_view",
    css="".join((_FOLDER / name).read_text(encoding="utf-8") for name in _STYLES),
    js=component_script(*(_FOLDER / name for name in _PARTS)),
)


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
    data = {"id": conversation.id, "version": conversation.version, "body": conversation.body, "focus": dict(focus)}
    _component(key=key, data=data, on_open_change=access_checks.event("chat_open", on_open))
