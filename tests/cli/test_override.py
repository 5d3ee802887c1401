"""``dramaturg override``: a row is overridden, and the score follows."""

from __future__ import annotations

import json
from typing import Any

ALL_COUNT = "Strategic depth: 100.0 %, passed (6 of 6; threshold 60)"
FIVE_COUNT = "Strategic depth: 83.3 %, passed (5 of 6; threshold 60)"


def overrule(run: Any, row: str = "strategic_depth:m1", *changes: str) -> Any:
    given = ("--verdict", "does_not_count", "--author", "Grace", "--reason", "Only words.")
    return run("override", "game-1", row, *given, *changes)


def score(run: Any) -> str:
    return str(run("show", "game-1", "--metric", "strategic_depth").stdout.splitlines()[0])


def test_a_row_is_overruled_and_the_score_computed_again(run: Any, write_game: Any) -> None:
    run("import", write_game())
    assert score(run) == ALL_COUNT
    done = overrule(run)
    assert done.exit_code == 0
    # 6 of 6 messages held a keyword; one of them no longer counts: 5 / 6 = 83.3 %.
    assert done.stdout.splitlines() == [
        "1: Grace made strategic_depth:m1 does not count; it was counts.",
        FIVE_COUNT,
    ]
    assert score(run) == FIVE_COUNT
    shown = json.loads(run("show", "game-1", "--metric", "strategic_depth", "--format", "json").stdout)
    assert (shown["method"], shown["ledger"][1]["reason"]) == ("human", "Grace: Only words.")
