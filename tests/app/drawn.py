"""The components that a page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamlit.testing.v1 import AppTest


def drawn(app: AppTest) -> Sequence[Any]:
    """All but the one of the frame that speaks to the browser's history and shows nothing."""
    return [one for one in app.get("bidi_component") if "history" not in one.proto.component_name]
