"""Table 1 from the paper's raw scores: every published digit, and what is said about repeated personas."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from evaluation.errors import BrokenTranscriptError, UnreadableFileError
from evaluation.experiments.table1 import published_experiments, table1_from_raw


@pytest.fixture(scope="module")
def raw(data_root: Path) -> Path:
    return data_root / "tinytroupe" / "table1_raw"


@pytest.fixture(scope="module")
def rows(raw: Path) -> list[dict]:
    return [row.as_dict() for row in table1_from_raw(raw)]


@pytest.fixture(scope="module")
def published(data_root: Path) -> list[dict[str, str]]:
    with (data_root / "tinytroupe" / "table1_published.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_all_published_rows_to_the_printed_digit(rows: list[dict], published: list[dict[str, str]]) -> None:
    names = [(one["exp"], one["metric"].replace("Divergence", "Voice distinctness")) for one in published]
    assert [(row["experiment"], row["dimension"]) for row in rows] == names
    assert len(rows) == 19
    for row, printed in zip(rows, published, strict=True):
        for ours, theirs in (("treatment", "T"), ("control", "C")):
            assert row[f"{ours}_mean"] == pytest.approx(float(printed[f"pub_{theirs}_mean"]), abs=0.005 + 1e-9)
            assert row[f"{ours}_sd"] == pytest.approx(float(printed[f"pub_{theirs}_sd"]), abs=0.005 + 1e-9)
            assert row[f"n_{ours}"] == int(printed[f"n_{theirs}"])
        assert row["p_printed"] == printed["pub_p"]
        assert row["matches_published"]
        assert row["same_direction"]


def test_what_the_paper_does_not_print_equals_the_recomputation(
    rows: list[dict], published: list[dict[str, str]]
) -> None:
    for row, expected in zip(rows, published, strict=True):
        assert row["p_value"] == pytest.approx(float(expected["welch_p"]), rel=1e-6)
        assert row["degrees_of_freedom"] == pytest.approx(float(expected["welch_df"]), abs=6e-4)
        assert row["cohens_d"] == pytest.approx(float(expected["cohen_d_T_minus_C"]), abs=6e-5)
        assert row["difference_low"] < row["difference"] < row["difference_high"]
        assert row["p_holm"] >= row["p_value"]


def test_the_published_values_that_we_ship_are_the_papers(published: list[dict[str, str]]) -> None:
    shipped = [(one.name, row) for one in published_experiments() for row in one.rows]
    for (experiment, row), printed in zip(shipped, published, strict=True):
        # The screen calls it by the same name everywhere.
        shown = printed["metric"].replace("Divergence", "Voice distinctness")
        assert (experiment, row.dimension, row.key) == (printed["exp"], shown, printed["json_key"])
        assert row.difference == float(printed["pub_delta"])


def test_holm_keeps_fewer_rows_than_the_paper_stars(rows: list[dict]) -> None:
    # 15 of 19 rows have p <= 0.05. Sorted, the 10 smallest pass Holm at once; then 0.0037 x 9 = 0.034, 0.0063 x 8 =
    # 0.050 and more: the adjusted values of 0.0063 (0.0504), 0.0081, 0.0148 and 0.0496 are above 0.05.
    assert sum(row["p_value"] <= 0.05 for row in rows) == 15
    assert sum(row["p_holm"] <= 0.05 for row in rows) == 11
    assert {row["outcome"] for row in rows} == {"higher", "lower", "no evidence either way"}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda path: path.unlink(), UnreadableFileError, "No such file"),
        (lambda path: path.write_bytes(b"\xff"), BrokenTranscriptError, "Invalid JSON"),
        (lambda path: path.write_text("{"), BrokenTranscriptError, "line 1 column"),
        (lambda path: path.write_text("[" * 100_000), BrokenTranscriptError, "recursion limit"),
        (lambda path: path.write_text('{"experiments": []}'), BrokenTranscriptError, "experiments: Input should be"),
        (lambda path: _put(path, "Fluency", 7), BrokenTranscriptError, "Fluency: Input should be a valid array"),
        (lambda path: _put(path, "Fluency", [7, "9"]), BrokenTranscriptError, r"Fluency\.1: Input should be a valid"),
        (lambda path: _put(path, "Fluency", None), BrokenTranscriptError, "no scores called 'Fluency'"),
    ],
)
def test_files_that_are_not_what_the_experiment_wrote(raw: Path, tmp_path: Path, change, error, words: str) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(raw, folder)
    change(folder / "debating_quantitative_experimentation_1c.json")
    with pytest.raises(error, match=words):
        table1_from_raw(folder)


def _put(path: Path, key: str, value: object) -> None:
    content = json.loads(path.read_text("utf-8"))
    results = content["experiments"]["Control"]["results"]
    if value is None:
        del results[key]
    else:
        results[key] = value
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_missing_score_is_left_out_and_the_row_says_that_it_differs(raw: Path, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    shutil.copytree(raw, folder)
    _put(folder / "debating_quantitative_experimentation_1c.json", "Divergence", [7, 7, None, 5])
    row = table1_from_raw(folder)[-1]
    assert (row.found.before.n, row.has_published_values) == (3, False)
