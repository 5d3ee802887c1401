"""``dramaturg evaluate`` and ``import``: outputs, what is stored, gates, columns, and files that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers.import_report import ImportOutcome
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store


def test_results_go_to_standard_output_and_progress_to_standard_error(run: Any, write_game: Any) -> None:
    done = run("evaluate", write_game(), "--no-store", "--format", "json")
    [evaluation] = json.loads(done.stdout)
    assert list(evaluation["metrics"]) == list(DEFINITIONS)
    assert evaluation["transcript"].keys() >= {"id", "game_id", "source_format", "players", "messages", "cost"}
    wanted = {"score", "numerator", "denominator", "threshold", "status", "method", "version", "ledger"}
    assert all(metric.keys() >= wanted for metric in evaluation["metrics"].values())
    assert evaluation["verdict"].keys() >= {"status", "passed_count", "reasons"}
    assert done.stderr == "1 game done: game-1.json\n"


def test_the_table_has_a_row_per_game_and_the_reasons(run: Any, write_game: Any) -> None:
    done = run("evaluate", write_game("one"), write_game("two", good=False), "--no-store")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["Id", "Game", "Memory", "Depth"]
    assert "pending" in lines[2]
    assert "failed" in lines[3]
    assert any("failed: Only " in line for line in lines[4:])


@pytest.mark.usefixtures("no_database")
def test_nothing_is_stored_when_told_so(run: Any, write_game: Any, database: Path) -> None:
    assert run("evaluate", write_game(), "--no-store").exit_code == 0
    assert not database.exists()


def test_by_default_transcript_and_results_are_stored(run: Any, write_game: Any, database: Path) -> None:
    done = run("evaluate", write_game(), "--iteration", "v1")
    assert done.exit_code == 0
    store = Store(database)
    [row] = store.transcripts.summaries("v1").to_dict("records")
    assert (row["game_id"], row["source_name"]) == ("game-1", "game-1.json")
    assert set(store.results.load(row["transcript_id"])) == set(DEFINITIONS)


def test_an_iteration_without_a_store_is_wrong_usage(run: Any, write_game: Any) -> None:
    done = run("evaluate", write_game(), "--no-store", "--iteration", "v1")
    assert done.exit_code == 2
    assert "leave out --no-store" in " ".join(done.stderr.split())


def test_the_same_content_twice_counts_once(run: Any, write_game: Any, tmp_path: Path) -> None:
    path = write_game()
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    done = run("evaluate", path, copy, "--no-store", "--format", "json")
    assert len(json.loads(done.stdout)) == 1
    assert "copy.json: the same content as game-1.json" in done.stderr


def test_a_broken_file_among_good_ones(run: Any, write_game: Any, refused: Path) -> None:
    done = run("evaluate", refused, write_game(), "--no-store", "--format", "json")
    assert done.exit_code == 2
    assert len(json.loads(done.stdout)) == 1
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert error.startswith("error: notes.txt: ")
    assert "See Guide, Formats" in error
    alone = run("evaluate", refused, "--no-store", "--format", "json")
    assert (alone.exit_code, json.loads(alone.stdout)) == (2, [])


@pytest.mark.parametrize(
    ("good", "usd", "rating", "gate", "code"),
    [
        (True, 1.0, None, "full", 1),
        (True, 1.0, 4, "full", 0),
        (True, 1.0, 2, "full", 1),
        (False, 1.0, 5, "full", 1),
        (True, 1.0, None, "automatic", 0),
        (True, None, None, "automatic", 0),
        (True, 3.5, None, "automatic", 1),
        (False, 1.0, None, "automatic", 1),
    ],
)
def test_the_gates(
    run: Any, write_game: Any, good: bool, usd: float | None, rating: int | None, gate: str, code: int
) -> None:
    path = write_game(good=good, usd=usd)
    if rating is not None:
        run("import", path)
        run("rate", "game-1", "--rater", "Ann", "--score", rating, "--answers", "-----")
    done = run("evaluate", path, "--gate", gate)
    assert (done.exit_code, "gate: " in done.stderr) == (code, code == 1)
    assert run("evaluate", path).exit_code == 0


def test_one_failure_among_many_closes_the_gate(run: Any, write_game: Any) -> None:
    done = run("evaluate", write_game("one"), write_game("two", good=False), "--no-store", "--gate", "automatic")
    assert done.exit_code == 1
    assert next(line for line in done.stderr.splitlines() if line.startswith("gate:")).split()[2] == "(two)"


def test_import_lists_what_became_of_each_file(run: Any, write_game: Any) -> None:
    path = write_game()
    first = run("import", path, "--iteration", "v1")
    assert first.stdout.splitlines()[2].split()[1:4] == ["game-1.json", "v1", "new"]
    assert run("import", path).stdout.splitlines()[2].split()[1:4] == ["game-1.json", "v1", "known"]


def test_a_stored_game_joins_the_iteration_that_is_named_and_does_not_leave_it(
    run: Any, write_game: Any, database: Path
) -> None:
    path = write_game()
    run("import", path)
    run("import", path, "--iteration", "v1")
    assert len(Store(database).transcripts.summaries("v1")) == 1
    done = run("import", path, "--iteration", "v2")
    assert "stays in the iteration v1" in done.stderr
    assert len(Store(database).transcripts.summaries("v1")) == 1
    assert [one.name for one in Store(database).iterations.list()] == ["v1"]


def test_a_refused_file_creates_no_iteration(run: Any, refused: Path, database: Path) -> None:
    assert run("import", refused, "--iteration", "v1").exit_code == 2
    assert Store(database).iterations.list() == []


def test_import_wants_a_path_or_the_samples(run: Any) -> None:
    done = run("import")
    assert done.exit_code == 2
    assert "--samples" in done.stderr


def test_the_samples_come_with_iterations_and_ratings_and_only_once(run: Any, database: Path) -> None:
    first = run("import", "--samples")
    assert first.exit_code == 0
    store = Store(database)
    games = len(store.transcripts.summaries())
    assert f"{games} of {games} sample games are new" in first.stdout
    assert len(store.iterations.list()) == 4
    assert f"0 of {games} sample games are new, with 0 ratings" in run("import", "--samples").stdout


def test_an_open_question_about_who_could_hear_is_printed_and_fails_a_gate(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    said = "".join(
        f"{name},I suspect Cid because of {number}.,general\n" for number, name in enumerate(["Ann", "Ben", "Cid"])
    )
    table.write_text(f"name,text,channel\n{said}Ann,We two against Cid.,lounge\n", encoding="utf-8")
    for command in (["import", table], ["evaluate", table]):
        done = run(*command)
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


def test_validate_and_evaluate_take_the_same_columns(run: Any, table: Path) -> None:
    columns = ("--map", "speaker=wer", "--map", "text=was")
    assert "chat.csv: table" in run("validate", table, *columns).stdout
    assert json.loads(run("evaluate", table, "--no-store", "--format", "json", *columns).stdout)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (["speaker"], "is not of the form FIELD=COLUMN"),
        (["colour=x"], "Fields are speaker, text, game"),
        (["speaker=a", "speaker=b"], "The speaker is given twice"),
        (["speaker=nick", "text=was"], "There is no column 'nick'; there are wer, was, tag."),
    ],
)
def test_a_wrong_mapping_is_explained(run: Any, table: Path, pairs: list[str], reason: str) -> None:
    done = run("import", table, *(part for pair in pairs for part in ("--map", pair)))
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.replace("│", " ").split())


def test_the_report_is_kept(run: Any, write_game: Any, refused: Path, tmp_path: Path, database: Path) -> None:
    first, second = write_game("one"), write_game("two")
    again = tmp_path / "again.json"
    again.write_bytes(second.read_bytes())
    assert run("import", first).exit_code == 0
    done = run("import", first, second, again, refused, "--iteration", "V2")
    assert done.exit_code == 2
    latest, earlier = Store(database).imports.list()
    written = latest.as_dict()
    assert [(line["name"], line["outcome"]) for line in written["files"]] == [
        ("one.json", "known already"),
        ("two.json", "stored"),
        ("again.json", "twice in this import"),
        ("notes.txt", "refused"),
    ]
    assert written["counts"]["refused"] == 1
    assert written["files"][3]["remedy"].startswith("See Guide, Formats")
    assert (latest.source, latest.iteration) == ("command line", "V2")
    assert earlier.counts[ImportOutcome.STORED] == 1


def test_limits_that_were_set_hold_for_the_command_line(run: Any, write_game: Any, database: Path) -> None:
    Store(database).settings.set_limits({"messages": 5})
    done = run("import", write_game())
    assert done.exit_code == 2
    assert "The game has 6 messages, more than 5." in done.stderr
