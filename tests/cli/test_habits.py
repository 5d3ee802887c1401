"""What engineers type without reading: it works as they mean it, or the error names what does."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store


def test_an_export_has_the_format_of_its_name(run: Any, write_game: Any, tmp_path: Path) -> None:
    run("import", write_game("one"))
    begins = {"a.csv": b'"transcript_id"', "a.json": b"[", "a": b'"transcript_id"'}
    for name, begin in begins.items():
        assert run("export", "results", "-o", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begin)
    not_written = (("a.xlsx", ".xlsx is not written"), ("a.parquet", ".parquet is not written"))
    for name, told in (*not_written, ("b.csv.zip", "cannot be written as")):
        done = run("export", "results", "-o", tmp_path / name)
        assert (done.exit_code, told in done.stderr) == (2, True)
        assert not (tmp_path / name).exists()


def test_an_address_is_no_file(run: Any) -> None:
    told = run("import", "https://example.org/g.json")
    assert (told.exit_code, "That is an address. Download it first" in told.stderr) == (2, True)


def test_what_lists_show_names_a_game(run: Any, write_game: Any) -> None:
    run("import", write_game("one"), "--iteration", "v1")
    (row,) = json.loads(run("list", "--format", "json").stdout)
    for reference in (row["id"][:8], row["source_name"], "Game 1 · v1"):
        assert run("show", reference).exit_code == 0, reference
        assert run("rate", "add", reference, "--rater", "Ada", "--score", 4, "--answers", "yynyy").exit_code == 0, (
            reference
        )


def test_a_judge_without_a_model_says_so_and_does_not_end_as_if_it_had_read(
    run: Any, write_game: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    assert run("judge").exit_code == 2
    run("import", write_game("one"))
    done = run("judge", "--estimate")
    assert (done.exit_code, "there is no key for gpt-4o-mini" in done.stderr) == (0, True)
    done = run("judge")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No model can be asked" in done.stderr
    assert "OPENAI_API_KEY" in done.stderr
    # A model that may not be called reads nothing either.
    assert run("judge", "--base-url", "http://127.0.0.1:9/v1", "--max-calls", 0).exit_code == 3


def test_collect_uses_the_database_of_every_command(run: Any, write_game: Any, tmp_path: Path, database: Path) -> None:
    output = tmp_path / "corpus"
    assert run("evaluate", write_game("one"), "--output", output).exit_code == 0
    assert run("collect", output).stdout == "1 game imported.\n"
    store = Store(database)
    assert list(store.transcripts.summaries()["game_id"]) == ["one"]
    store.close()
