"""The chat view: a transcript as a conversation with the verdicts of its metrics on every message.

What it shows is made by ``dashboard.conversation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent
_PARTS = ("chat_rows.js", "chat_steps.js", "chat_view.js")
_component = st.components.v2.component(
    "dramaturg_chat_view",
    css=(_FOLDER / "chat_view.css").read_text(encoding="utf-8"),
    js="".join((_FOLDER / name).read_text(encoding="utf-8") for name in _PARTS),
)


def chat_view(data: Mapping[str, Any], *, key: str, on_open: Callable[[], None]) -> None:
    """Mounts the view. ``on_open`` runs after a badge was clicked; the click is ``st.session_state[key].open``."""
    _component(key=key, data=dict(data), on_open_change=on_open)
