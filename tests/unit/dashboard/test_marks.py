"""Marks: what the browser says is checked, and each target leads to what is behind it."""

from __future__ import annotations

import pytest

from dashboard.shared.marks.pictures import read_mark
from dashboard.shared.marks.targets import MarkTarget

GAME, LIST = MarkTarget("coherence", transcript_id="t1"), MarkTarget("coherence", iteration="v1")
TARGETS = [{"metric": (LIST,), "game": (GAME, LIST)}, {"metric": (LIST,), "game": ()}]


def test_a_mark_is_found_by_row_kind_and_index() -> None:
    assert read_mark({"row": 0, "kind": "game", "index": 0}, TARGETS) is GAME
    assert read_mark({"row": 1, "kind": "metric", "index": 0}, TARGETS) is LIST


@pytest.mark.parametrize(
    "message",
    [
        None,
        "game",
        7,
        [0, "game", 0],
        {},
        {"row": 0, "kind": "game"},
        {"row": 2, "kind": "game", "index": 0},
        {"row": -1, "kind": "game", "index": 0},
        {"row": 0, "kind": "game", "index": 2},
        {"row": 0, "kind": "game", "index": -1},
        {"row": 0, "kind": "game", "index": True},
        {"row": False, "kind": "game", "index": 0},
        {"row": 0, "kind": "game", "index": "0"},
        {"row": 0, "kind": ["game"], "index": 0},
        {"row": 0, "kind": "__class__", "index": 0},
        {"row": 1, "kind": "game", "index": 0},
        {"row": 0.0, "kind": "game", "index": 0},
    ],
)
def test_anything_else_that_a_browser_may_send_opens_nothing(message) -> None:
    assert read_mark(message, TARGETS) is None
