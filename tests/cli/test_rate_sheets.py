"""``dramaturg rate import`` and ``export ratings``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.store import Store


@pytest.fixture
def game(run: Any, write_game: Any, database: Path) -> str:
    run("import", write_game())
    return str(Store(database).transcripts.summaries()["transcript_id"].iloc[0])


def test_a_sheet_goes_out_and_comes_back_without_loss(run: Any, game: str, database: Path, tmp_path: Path) -> None:
    for score, comment in ((2, "=1+1"), (4, "line\r\nbreak")):
        run("rate", game, "--rater", "Ann", "--score", score, "--answers", "yyn-y", "--comment", comment)
    sheet = tmp_path / "ratings.csv"
    assert run("export", "ratings", "-o", sheet).exit_code == 0
    assert "'=1+1" in sheet.read_text("utf-8-sig")
    before = Store(database).ratings.every()
    again = run("rate", "import", sheet)
    assert again.stdout.startswith("0 new stored, 2 known already")
    other = tmp_path / "other.duckdb"
    run("import", tmp_path / "game-1.json", "--db", other)
    assert run("rate", "import", sheet, "--db", other).stdout.startswith("2 new stored")
    assert [replace(one, token="t") for one in Store(other).ratings.every()] == [
        replace(one, token="t") for one in before
    ]


def test_a_broken_sheet_names_every_line_and_stores_nothing(
    run: Any, game: str, tmp_path: Path, database: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("game,rater,score\ngame-1,Ann,3\ngame-1,Ann,9\nnowhere,Ann,3\n")
    done = run("rate", "import", sheet)
    assert done.exit_code == 2
    for told in ("line 3, score: '9'", "line 4, game: 'nowhere'", "Nothing was stored."):
        assert told in done.stderr
    assert Store(database).ratings.every() == []


def test_a_dry_run_stores_nothing(run: Any, game: str, tmp_path: Path, database: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("game,score\ngame-1,2\ngame-1,\n")
    done = run("rate", "import", sheet, "--rater", "Ann", "--dry-run")
    assert done.stdout.startswith("1 new would be stored, 0 known already, 1 without a score")
    assert Store(database).ratings.every() == []


def test_options_may_come_before_the_game(run: Any, game: str) -> None:
    assert run("rate", "--rater", "Ann", "--score", 3, "--answers", "-----", game).exit_code == 0
