"""Mending what is stored: override, move, backup, restore, scoring again, and settings."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evaluation.cli.options import person
from evaluation.readers import Limits
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


def test_a_backup_and_back_without_addresses_of_servers(
    run: Any, write_game: Any, tmp_path: Path, database: Path
) -> None:
    run("import", write_game("one"))
    store, target, address = Store(database), tmp_path / "copy.duckdb", "http://evil.test/\x1b[31mv1"
    store.settings.set("judge", {"base_url": address})
    store.close()
    done = run("backup", target)
    assert (done.exit_code, done.stdout) == (0, f"{target} holds 1 transcript, 0 iterations, 0 ratings.\n")
    run("import", write_game("two"))
    checked = run("restore", target, "--check").stdout
    assert checked.startswith(f"{target} can be restored: 1 transcript, ")
    assert "Not restored:\n  judge: it names http://evil.test/" in checked
    assert "\x1b" not in checked
    assert len(store.transcripts.summaries()) == 2
    store.close()
    assert run("restore", target).exit_code == 0
    assert list(store.transcripts.summaries()["game_id"]) == ["one"]
    assert store.settings.get("judge") is None


def test_regular_backups_keep_what_they_made_and_what_lies_in_the_future(
    run: Any, write_game: Any, tmp_path: Path, database: Path
) -> None:
    run("import", write_game("one"))
    Store(database).close()
    folder, now = tmp_path / "backups", time.time()
    folder.mkdir()
    ages = {"dramaturg-99991231T000000.0.duckdb": -3, "dramaturg-2026.duckdb": -2, "dramaturg-1.duckdb": -1}
    for name, days in {**ages, "dramaturg-2.duckdb": 1}.items():
        shutil.copy(database, folder / name)
        os.utime(folder / name, (now + days * 86_400,) * 2)
    # None of these is a backup: they take the place of none, and stay.
    oddities = {"dramaturg-empty.duckdb", "dramaturg-link.duckdb", "dramaturg-name.duckdb"}
    (folder / "dramaturg-empty.duckdb").touch()
    (folder / "dramaturg-link.duckdb").symlink_to(database)
    os.link(folder / "dramaturg-1.duckdb", folder / "dramaturg-name.duckdb")
    script = Path(__file__).parents[2] / "container" / "backups.py"
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(folder), "0", "2"],
        env={**os.environ, "DRAMATURG_DB": str(database)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    left = {path.name for path in folder.iterdir()}
    assert left > oddities
    left -= oddities
    made = left - {*ages, "dramaturg-2.duckdb"}
    assert len(made) == 1
    # The youngest of the others by its own age, whatever its name says, and the one from the future.
    assert left - made == {"dramaturg-1.duckdb", "dramaturg-2.duckdb"}
    assert "kept, as its time lies in the future: " in done.stderr
    assert "dramaturg-2.duckdb" in done.stderr


def values(run: Any) -> dict[str, float]:
    return {row["name"]: row["value"] for row in json.loads(run("settings", "--format", "json").stdout)}


def test_settings_are_shown_changed_and_return_to_their_defaults(run: Any, database: Path) -> None:
    assert "threshold.engagement" in run("settings").stdout
    assert (values(run)["test_size"], values(run)["limit.messages"]) == (3, 5_000)
    run("settings", "--set", "threshold.engagement=3.5", "--set", "test_size=4", "--set", "limit.messages=100")
    store = Store(database)
    assert store.settings.thresholds()["engagement"] == 3.5
    assert store.settings.test_size() == 4
    assert store.settings.limits().messages == 100
    run("settings", "--set", "threshold.engagement=", "--set", "test_size=", "--set", "limit.messages=")
    assert store.settings.thresholds()["engagement"] == 3.0
    assert store.settings.test_size() == 3
    assert store.settings.limits() == Limits()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("threshold.engagement", "is not of the form NAME=VALUE"),
        ("colour=3", "is not a setting"),
        ("threshold.colour=3", "is not a metric"),
        ("threshold.engagement=9", "Give a number from 1 to 5"),
        ("threshold.engagement=high", "is not a number"),
        ("test_size=inf", "is not a whole number"),
        ("limit.files=0", "cannot be the limit"),
    ],
)
def test_a_wrong_change_is_explained_and_nothing_changes(run: Any, database: Path, change: str, reason: str) -> None:
    done = run("settings", "--set", "test_size=5", "--set", change)
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.replace("│", " ").split())
    assert Store(database).settings.test_size() == 3
