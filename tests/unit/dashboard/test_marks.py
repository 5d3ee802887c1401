"""Marks: what the browser says is checked, and each target leads to what is behind it."""

from __future__ import annotations

import pytest

from dashboard.shared.clicked_marks import MarkTarget, read_mark

GAME, LIST = MarkTarget("coherence", transcript_id="t1"), MarkTarget("coherence", iteration="v1")
TARGETS = [{"metric": (LIST,), "game": (GAME, LIST)}, {"metric": (LIST,), "game": ()}]


def test_a_mark_is_found_by_row_kind_and_index() -> None:
    assert read_mark({"row": 0, "kind": "game", "index": 0}, TARGETS) is GAME
    assert read_mark({"row": 1, "kind": "metric", "index": 0}, TARGETS) is LIST


PLACES = [(2, "game", 0), (-1, "game", 0), (0, "game", 2), (0, "game", -1), (0, "game", True), (False, "game", 0)]
PLACES += [(0, "game", "0"), (0, ["game"], 0), (0, "__class__", 0), (1, "game", 0), (0.0, "game", 0)]
FORGED = [{"row": row, "kind": kind, "index": index} for row, kind, index in PLACES]


@pytest.mark.parametrize("message", [None, "game", 7, [0, "game", 0], {}, {"row": 0, "kind": "game"}, *FORGED])
def test_anything_else_that_a_browser_may_send_opens_nothing(message) -> None:
    assert read_mark(message, TARGETS) is None
