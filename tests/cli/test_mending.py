"""Mending what is stored, from the command line: move, delete, undo, and scoring again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.cli.options import person
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.app.outdated import make_outdated


@pytest.fixture
def games(run: Any, write_game: Any) -> list[str]:
    """Two games in v1 and one in none: one, two and three; their ids."""
    run("import", write_game("one"), write_game("two"), "--iteration", "v1")
    run("import", write_game("three"))
    return [row["id"] for row in listed(run)]


def listed(run: Any, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("list", "--format", "json", *arguments).stdout)
    return rows


def names(run: Any, *arguments: str) -> list[str]:
    return [row["game_id"] for row in listed(run, *arguments)]


def test_deleting_needs_consent_and_undo_brings_back(run: Any, games: list[str], database: Path) -> None:
    Store(database).ratings.add(Rating(games[0], "ann", 4))
    refused = run("delete", "one", "three")
    assert refused.exit_code == 2
    assert "Delete 2 games: one, three? Nobody can be asked here. Say --yes." in refused.stderr
    assert names(run) == ["one", "two", "three"]
    done = run("delete", "one", "three", "--yes", "--by", "Ann")
    assert done.stdout == "Deleted 2 games. To bring it back: dramaturg undo 1.\n"
    assert names(run) == ["two"]
    [deletion] = Store(database).deletions.list()
    assert (deletion.id, deletion.label, deletion.games, deletion.who) == (1, "2 games", 2, "Ann")
    assert run("undo").stdout == "Back again: 2 games.\n"
    assert names(run) == ["one", "two", "three"]
    assert Store(database).ratings.latest(games[0])[0].score == 4
    for nothing in ((), ("1",), ("7",)):
        assert run("undo", *nothing).exit_code == 2


def test_mixed_versions_are_warned_of_and_scoring_again_mends_them(run: Any, games: list[str], database: Path) -> None:
    warning = "warning: Conversation coherence was computed by version 0 in 1 game and by version"
    make_outdated(Store(database), Store(database).transcripts.get(games[0]))
    for command in ("list", "iterations"):
        told = run(command).stderr
        assert (warning in told, "dramaturg reevaluate" in told) == (True, True)
    assert run("reevaluate").stdout == "Scored 1 game again; changed: Conversation coherence in 1 game.\n"
    assert run("list").stderr == ""
    assert "today's definitions" in run("reevaluate").stderr


def test_games_to_score_again_can_be_chosen(run: Any, games: list[str], database: Path) -> None:
    for transcript_id in games:
        make_outdated(Store(database), Store(database).transcripts.get(transcript_id))
    for chosen, count in ((("three",), "1 game"), (("--iteration", "v1"), "2 games"), (("--all",), "3 games")):
        assert f"Scored {count} again" in run("reevaluate", *chosen).stdout
    for wrong in (("one", "--all"), ("nothing",), ("--iteration", "v9")):
        assert run("reevaluate", *wrong).exit_code == 2


def test_who_acts_is_the_user_unless_somebody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    assert person(None) == "grace"
    assert person("Ann") == "Ann"
