"""The network drawing; its data come from ``dashboard.app_pages.network.data``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import access_checks

_FOLDER = Path(__file__).parent
_component = st.components.v2.component(
    "dramaturg_graph_view",
    css=(_FOLDER / "graph_view.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "graph_view.js").read_text(encoding="utf-8"),
)


def graph_view(data: Mapping[str, Any], *, key: str, on_open: Callable[[], None]) -> None:
    """Mounts the drawing.

    Args:
        data: As ``data.drawing`` makes it.
        key: Tells it from others; without untrusted text.
        on_open: Runs after a player was clicked; ``st.session_state[key].open`` is the player's place, -1 for nobody.
    """
    _component(key=key, data=dict(data), on_open_change=access_checks.event("network_open", on_open))


def read_place(value: object, players: int) -> int | None:
    """The place of a player in a message from the browser; ``None`` for nobody and for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < players else None
