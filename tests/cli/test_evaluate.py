"""``dramaturg evaluate`` and ``import``: outputs, what is stored, gates, columns, and files that cannot be read."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers.import_report import ImportOutcome
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store


@pytest.mark.usefixtures("no_database")
def test_results_go_to_standard_output_and_nothing_is_stored_when_told_so(
    run: Any, write_game: Any, database: Path
) -> None:
    done = run("evaluate", write_game(), "--no-store", "--format", "json")
    [evaluation] = json.loads(done.stdout)
    assert list(evaluation["metrics"]) == list(DEFINITIONS)
    assert evaluation["transcript"].keys() >= {"id", "game_id", "source_format", "players", "messages", "cost"}
    wanted = {"score", "numerator", "denominator", "threshold", "status", "method", "version", "ledger"}
    assert all(metric.keys() >= wanted for metric in evaluation["metrics"].values())
    assert evaluation["metrics"]["coherence"]["control"].keys() >= {"chance", "difference", "p", "draws", "companion"}
    assert evaluation["verdict"].keys() >= {"status", "passed_count", "reasons"}
    assert done.stderr == "1 game done: game-1.json\n"
    assert not database.exists()


def test_the_table_has_a_row_per_game_and_the_reasons(run: Any, write_game: Any) -> None:
    done = run("evaluate", write_game("one"), write_game("two", good=False), "--no-store")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["Id", "Game", "Memory", "Depth"]
    assert "pending" in lines[2]
    assert "failed" in lines[3]
    assert any("failed: Only " in line for line in lines[4:])


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("evaluate", "game.json", "--no-store", "--iteration", "v1"), "leave out --no-store"),
        (("import",), "--samples"),
    ],
)
def test_wrong_usage_is_told_with_its_remedy(run: Any, command: tuple[str, ...], remedy: str) -> None:
    done = run(*command)
    assert (done.exit_code, remedy in " ".join(done.stderr.split())) == (2, True)


def test_a_broken_file_and_a_copy_among_good_ones(run: Any, write_game: Any, refused: Path, tmp_path: Path) -> None:
    path, copy = write_game(), tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    done = run("evaluate", refused, path, copy, "--no-store", "--format", "json")
    assert done.exit_code == 2
    assert len(json.loads(done.stdout)) == 1
    assert "copy.json: the same content as game-1.json" in done.stderr
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert error.startswith("error: notes.txt: ")
    assert "See Guide, Formats" in error
    alone = run("evaluate", refused, "--no-store", "--format", "json")
    assert (alone.exit_code, json.loads(alone.stdout)) == (2, [])


@pytest.mark.parametrize(
    ("good", "rating", "gate", "code"),
    [
        (True, None, "full", 1),
        (True, 4, "full", 0),
        (False, None, "automatic", 1),
        (True, None, "automatic", 0),
    ],
)
def test_the_gates(run: Any, write_game: Any, good: bool, rating: int | None, gate: str, code: int) -> None:
    path = write_game(good=good)
    # One failure among several closes it.
    others = [] if good else [write_game("two")]
    if rating is not None:
        run("import", path)
        run("rate", "add", "game-1", "--rater", "Ann", "--score", rating, "--answers", "-----")
    done = run("evaluate", path, *others, "--gate", gate)
    assert (done.exit_code, "gate: " in done.stderr) == (code, code == 1)
    assert run("evaluate", path).exit_code == 0


def test_a_stored_game_joins_the_iteration_that_is_named_and_does_not_leave_it(
    run: Any, write_game: Any, database: Path
) -> None:
    path = write_game()
    assert run("import", path).stdout.splitlines()[2].split()[1:3] == ["game-1.json", "new"]
    known = run("import", path, "--iteration", "v1").stdout.splitlines()[2].split()
    assert known[1:4] == ["game-1.json", "v1", "known"]
    done = run("import", path, "--iteration", "v2")
    assert "stays in the iteration v1" in done.stderr
    assert len(Store(database).transcripts.summaries("v1")) == 1
    assert [one.name for one in Store(database).iterations.list()] == ["v1"]


def test_the_samples_come_only_once(run: Any, database: Path, sample_database: Path) -> None:
    shutil.copyfile(sample_database, database)
    games = len(Store(database).transcripts.summaries())
    assert f"0 of {games} sample games are new, with 0 ratings" in run("import", "--samples").stdout
    assert len(Store(database).transcripts.summaries()) == games > 20
    assert len(Store(database).iterations.list()) == 4
    # The recorded reading of one comes as on the pages.
    assert any(Store(database).decisions.current(game) for game in Store(database).transcripts.ids())


def test_an_open_question_about_who_could_hear_is_printed_and_fails_a_gate(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    said = "".join(f"{name},I suspect Cid.,general\n" for name in ("Ann", "Ben", "Cid"))
    table.write_text(f"name,text,channel\n{said}Ann,We two against Cid.,lounge\n", encoding="utf-8")
    for command in ("import", "evaluate"):
        done = run(command, table)
        assert done.exit_code == 0
        assert 'question: table.csv: 1 message stands under "lounge", taken as not public.' in done.stderr
        assert '--channel "lounge=public|team|private|system"' in done.stderr
    assert run("evaluate", table, "--gate", "automatic").exit_code == 2
    answered = run("evaluate", table, "--gate", "automatic", "--channel", "lounge=team")
    assert answered.exit_code in (0, 1)
    assert "question" not in answered.stderr


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "chat.csv"
    path.write_text("wer,was,tag\nAnn,Guten Morgen,1\nBen,Hallo Ann,2\n", encoding="utf-8")
    return path


def test_columns_are_named_on_the_command_line(run: Any, table: Path, database: Path) -> None:
    assert run("import", table).exit_code == 2
    done = run("import", table, "--map", "speaker=wer", "--map", "text=was", "--map", "round=tag")
    assert done.exit_code == 0
    (transcript_id,) = Store(database).transcripts.summaries()["transcript_id"]
    transcript = Store(database).transcripts.get(transcript_id)
    first, second = [(m.speaker, m.text, m.round) for m in transcript.messages]
    assert (first, second) == (("Ann", "Guten Morgen", 1), ("Ben", "Hallo Ann", 2))
    columns = ("--map", "speaker=wer", "--map", "text=was")
    assert json.loads(run("evaluate", table, "--no-store", "--format", "json", *columns).stdout)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (["speaker"], "is not of the form FIELD=COLUMN"),
        (["colour=x"], "Fields are speaker, text, game"),
        (["speaker=a", "speaker=b"], "The speaker is given twice"),
        (["speaker=nick", "text=was"], "There is no column 'nick'"),
    ],
)
def test_a_wrong_mapping_is_explained(run: Any, table: Path, pairs: list[str], reason: str) -> None:
    done = run("import", table, *(part for pair in pairs for part in ("--map", pair)))
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.replace("│", " ").split())


def test_the_report_is_kept(run: Any, write_game: Any, refused: Path, database: Path) -> None:
    assert run("import", refused, "--iteration", "v1").exit_code == 2
    assert Store(database).iterations.list() == [], "a refused file creates no iteration"
    first, second = write_game("one"), write_game("two")
    assert run("import", first).exit_code == 0
    assert run("import", first, second, refused, "--iteration", "V2").exit_code == 2
    latest, earlier, _ = Store(database).imports.list()
    assert [(line["name"], line["outcome"]) for line in latest.as_dict()["files"]] == [
        ("one.json", "known already"),
        ("two.json", "stored"),
        ("notes.txt", "refused"),
    ]
    assert (latest.source, latest.iteration) == ("command line", "V2")
    assert earlier.counts[ImportOutcome.STORED] == 1


def test_limits_that_were_set_hold_for_the_command_line(run: Any, write_game: Any, database: Path) -> None:
    Store(database).settings.set_limits({"messages": 5})
    done = run("import", write_game())
    assert done.exit_code == 2
    assert "The game has 6 messages, more than 5." in done.stderr
