"""Exports: no formula runs, nothing is half written, missing values stay missing."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import ConflictError
from evaluation.escaping import spreadsheet_safe
from evaluation.writers import csv_text, json_rows, write_new_file


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        *((f"{start}1+1", f"'{start}1+1") for start in ("=", "+", "-", "@", "\t", "\n", "＝", "  =")),
        *((cell, cell) for cell in ("Agent-A", "✓ 84.0 %", "", 5, None, 3.2, "1-2")),
        ("\r1+1\x1b[31m\x1f", "'\n1+1"),
    ],
)
def test_what_begins_like_a_formula_gets_an_apostrophe_and_no_control_character_stays(cell: Any, safe: Any) -> None:
    assert spreadsheet_safe(cell) == safe


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1))
def test_every_cell_comes_back_from_csv_with_at_most_an_apostrophe_more(cells: list[str]) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(pd.DataFrame({"cell": cells})), newline="")))[1:]
    assert [row[0].removeprefix("'") for row in rows] == [cell.removeprefix("'") for cell in cells]


def test_json_rows_hold_nothing_that_json_has_not() -> None:
    table = pd.DataFrame(
        {
            "score": [1.5, float("nan")],
            "name": ["Ann", None],
            "when": pd.to_datetime(["2026-01-01", None], utc=True),
            "yes": pd.array([True, None], dtype="boolean"),
        }
    )
    assert json_rows(table) == [
        {"score": 1.5, "name": "Ann", "when": "2026-01-01T00:00:00+00:00", "yes": True},
        {"score": None, "name": None, "when": None, "yes": None},
    ]


def test_a_failed_export_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("kept", encoding="utf-8")

    def fail(neighbour: Path) -> None:
        neighbour.write_text("half", encoding="utf-8")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_new_file(path, fail, overwrite=True)
    assert path.read_text("utf-8") == "kept"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ConflictError):
        write_new_file(path, fail)
