"""``dramaturg export``: transcripts in formats that keep or exchange them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import read_path


@pytest.mark.parametrize(("kind", "name"), [("canonical", "all.zip"), ("parquet", "all.parquet")])
def test_what_is_exported_can_be_read_again(run: Any, write_game: Any, tmp_path: Path, kind: str, name: str) -> None:
    run("import", write_game("one"), write_game("two", good=False))
    path = tmp_path / name
    done = run("export", "transcripts", "--format", kind, "--output", path)
    assert (done.exit_code, done.stdout) == (0, "")
    found = {r.transcript.game_id: r.transcript for r in read_path(path) if r.transcript}
    assert set(found) == {"one", "two"}
    if kind != "parquet":
        ids = {row["id"] for row in json.loads(run("list", "--format", "json").stdout)}
        assert {transcript.id for transcript in found.values()} == ids


def test_rows_go_to_standard_output(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    rows = list(csv.DictReader(io.StringIO(run("export", "transcripts", "--format", "csv").stdout)))
    assert [(row["game_id"], row["speaker"], row["reply_to"]) for row in rows][:2] == [
        ("one", "Ann", ""),
        ("one", "Ben", "m0"),
    ]
    lines = run("export", "transcripts", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["text"] for line in lines] == [row["text"] for row in rows]


def test_only_one_iteration(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    run("import", write_game("two", good=False), "--iteration", "v2")
    rows = run("export", "transcripts", "--format", "jsonl", "--iteration", "v2").stdout.splitlines()
    assert {json.loads(row)["game_id"] for row in rows} == {"two"}
    assert run("export", "transcripts", "--format", "jsonl", "--iteration", "v3").exit_code == 2


def test_zips_and_parquet_need_a_file(run: Any, write_game: Any) -> None:
    run("import", write_game("one"))
    for what, kind in (("transcripts", "canonical"), ("transcripts", "parquet"), ("results", "parquet")):
        done = run("export", what, "--format", kind)
        assert (done.exit_code, "--output" in done.stderr) == (2, True)


def test_an_empty_database_says_so(run: Any, tmp_path: Path) -> None:
    done = run("export", "transcripts", "--output", tmp_path / "x.zip")
    assert done.exit_code == 2
    assert "There is no transcript to export." in done.stderr
    assert list(tmp_path.glob("*.zip")) == []
