"""``dramaturg import``: columns that a person names, the report that is kept and written, limits that were set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers.import_report import ImportOutcome
from evaluation.store import Store


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
