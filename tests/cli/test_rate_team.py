"""``dramaturg rate`` for leads: assign, status, send-back, gold, decide and undo, and the export of assignments."""

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
    table = run("export", "assignments").stdout
    assert table.splitlines()[0].startswith('"assignment_id","transcript_id","game","rater"')
    assert f'"{chosen}"' in table
    assert '"done"' in table


def test_too_few_raters_are_refused(run: Any, game: str) -> None:
    done = run("rate", "assign", "--game", game, "--rater", "Ann", "--who", "Lea")
    assert done.exit_code == 2
    assert "2 raters per game cannot be chosen from 1" in done.stderr


def test_a_rating_is_sent_back(run: Any, game: str, database: Path) -> None:
    rate(run, game, "Ann", 2)
    done = run("rate", "send-back", game, "--rater", "Ann", "--reason", "Read on", "--who", "Lea")
    assert done.stdout == f"Ann is asked to rate {game[:8]} again.\n"
    assert "↩ sent back, was 2" in run("rate", "status").stdout
    rate(run, game, "Ann", 3)
    assert [one.is_done for one in Store(database).rating_assignments.send_backs()] == [True]


def test_gold_games_are_set_listed_and_withdrawn(run: Any, game: str) -> None:
    rate(run, game, "Ann", 2)
    run("rate", "gold", game, "--score", 4, "--answers", "yn---", "--who", "Lea")
    (row,) = json.loads(run("rate", "gold", "--format", "json").stdout)
    assert (row["score"], row["answers"], row["who"]) == (4, [True, False, None, None, None], "Lea")
    assert "0 of 1 the same, -2.00" in run("rate", "status").stdout
    run("rate", "gold", game, "--withdraw", "--who", "Lea")
    assert "There is no gold game." in run("rate", "gold").stderr
    assert run("rate", "gold", game, "--score", 4).exit_code == 2


def test_a_dispute_is_decided_for_every_command(run: Any, game: str) -> None:
    for rater, score in (("Ann", 1), ("Ben", 4)):
        rate(run, game, rater, score)
    number = run("rate", "decide", game, "--score", 4, "--reason", "Ben", "--who", "Lea").stdout.split()[1].rstrip(":")
    scores = {row["metric"]: row["score"] for row in json.loads(run("export", "results", "--format", "json").stdout)}
    assert scores["engagement"] == 4.0
    run("rate", "undecide", number, "--who", "Max")
    scores = {row["metric"]: row["score"] for row in json.loads(run("export", "results", "--format", "json").stdout)}
    assert scores["engagement"] == 2.5
    (row,) = json.loads(run("rate", "decisions", "--format", "json").stdout)
    assert (row["score"], row["undone_by"]) == (4, "Max")


def test_limits_of_alerts_are_settings(run: Any, database: Path) -> None:
    run("settings", "--set", "rating_alert.same_answers=3", "--set", "rating_alert.seconds_per_message=0.5")
    limits = Store(database).settings.alert_limits()
    assert (limits.same_answers, limits.seconds_per_message) == (3, 0.5)
    assert run("settings", "--set", "rating_alert.same_answers=2.5").exit_code == 2
