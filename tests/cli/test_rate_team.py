"""``dramaturg rate assign`` for leads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store
from evaluation.workflows.ratings import rating_grid


@pytest.fixture
def game(run: Any, write_game: Any, database: Path) -> str:
    run("import", write_game(), "--iteration", "v1")
    return str(Store(database).transcripts.summaries()["transcript_id"].iloc[0])


def rate(run: Any, game: str, rater: str, score: int) -> None:
    assert run("rate", game, "--rater", rater, "--score", score, "--answers", "-----").exit_code == 0


def test_an_iteration_is_assigned_and_rated(run: Any, game: str, database: Path) -> None:
    names = ("--rater", "Ann", "--rater", "Ben", "--rater", "Cleo")
    dry = run("rate", "assign", "--iteration", "v1", *names, "--who", "Lea", "--dry-run")
    assert dry.stdout.endswith("2 assignments for 1 game would be stored.\n")
    store = Store(database)
    assert rating_grid(store, None).games[0].cells == {}
    run("rate", "assign", "--iteration", "v1", *names, "--who", "Lea")
    (found,) = rating_grid(store, "v1").games
    assert [str(cell.state) for cell in found.cells.values()] == ["assigned", "assigned"]
    chosen = next(iter(found.cells))
    rate(run, game, chosen, 4)
    assert str(rating_grid(store, "v1").games[0].cells[chosen].state) == "done"


def test_too_few_raters_are_refused(run: Any, game: str) -> None:
    done = run("rate", "assign", "--game", game, "--rater", "Ann", "--who", "Lea")
    assert done.exit_code == 2
    assert "2 raters per game cannot be chosen from 1" in done.stderr
