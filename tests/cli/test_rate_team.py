"""``dramaturg rate`` for leads: assign and status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store


@pytest.fixture
def game(run: Any, write_game: Any, database: Path) -> str:
    run("import", write_game(), "--iteration", "v1")
    return str(Store(database).transcripts.summaries()["transcript_id"].iloc[0])


def rate(run: Any, game: str, rater: str, score: int) -> None:
    assert run("rate", game, "--rater", rater, "--score", score, "--answers", "-----").exit_code == 0


def test_an_iteration_is_assigned_and_the_status_told(run: Any, game: str) -> None:
    names = ("--rater", "Ann", "--rater", "Ben", "--rater", "Cleo")
    dry = run("rate", "assign", "--iteration", "v1", *names, "--who", "Lea", "--dry-run")
    assert dry.stdout.endswith("2 assignments for 1 game would be stored.\n")
    assert "Nobody has rated" in run("rate", "status").stderr
    run("rate", "assign", "--iteration", "v1", *names, "--who", "Lea")
    rows = json.loads(run("rate", "status", "--format", "json").stdout)
    assert [row["state"] for row in rows if "state" in row] == ["assigned", "assigned"]
    chosen = rows[0]["rater"]
    rate(run, game, chosen, 4)
    rows = json.loads(run("rate", "status", "--iteration", "v1", "--format", "json").stdout)
    assert [(row["state"], row["score"]) for row in rows if row.get("rater") == chosen and "state" in row] == [
        ("done", 4)
    ]
    assert "✓ 4" in run("rate", "status").stdout


def test_too_few_raters_are_refused(run: Any, game: str) -> None:
    done = run("rate", "assign", "--game", game, "--rater", "Ann", "--who", "Lea")
    assert done.exit_code == 2
    assert "2 raters per game cannot be chosen from 1" in done.stderr
