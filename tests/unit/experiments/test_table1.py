"""Table 1 from the paper's raw scores: every published digit, and what is said about repeated personas."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from evaluation.experiments.tables import published_experiments
from evaluation.persona.dimensions import LABELS
from evaluation.statistics.comparison import Comparison, Measure, compare
from evaluation.statistics.words import p_words


@pytest.fixture(scope="module")
def rows(data_root: Path) -> Comparison:
    """The 19 rows, recomputed from the scores that the paper's authors published."""
    measures = {}
    for experiment in published_experiments():
        content = json.loads((data_root / "tinytroupe" / "table1_raw" / experiment.file).read_text("utf-8"))
        control, treatment = (content["experiments"][side]["results"] for side in ("Control", "Treatment"))
        for row in experiment.rows:
            scores = [[math.nan if one is None else one for one in side[row.key]] for side in (control, treatment)]
            measures[f"{experiment.name} {row.dimension}"] = Measure(*scores)
    return compare(measures)


@pytest.fixture(scope="module")
def published(data_root: Path) -> list[dict[str, str]]:
    with (data_root / "tinytroupe" / "table1_published.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


NAMES = {"Persona Adherence": "Adherence", "Self-consistency": "Consistency", "Divergence": "Voice distinctness"}
"""What we call the rows that the paper calls otherwise."""


def test_all_published_rows_to_the_printed_digit(rows: Comparison, published: list[dict[str, str]]) -> None:
    assert len(rows) == 19
    for row, printed in zip(rows.values(), published, strict=True):
        for side, theirs in ((row.after, "T"), (row.before, "C")):
            assert side.mean == pytest.approx(float(printed[f"pub_{theirs}_mean"]), abs=0.005 + 1e-9)
            assert side.sd == pytest.approx(float(printed[f"pub_{theirs}_sd"]), abs=0.005 + 1e-9)
            assert side.n == int(printed[f"n_{theirs}"])
        assert p_words(row.welch.p) == printed["pub_p"]


def test_what_the_paper_does_not_print_equals_the_recomputation(
    rows: Comparison, published: list[dict[str, str]]
) -> None:
    for row, expected in zip(rows.values(), published, strict=True):
        assert row.welch.p == pytest.approx(float(expected["welch_p"]), rel=1e-6)
        assert row.welch.freedom == pytest.approx(float(expected["welch_df"]), abs=6e-4)
        assert row.effect.value == pytest.approx(float(expected["cohen_d_T_minus_C"]), abs=6e-5)
        assert row.interval.low is not None
        assert row.interval.high is not None
        assert row.interval.low < row.difference < row.interval.high
        assert row.p_holm >= row.welch.p


def test_the_published_values_that_we_ship_are_the_papers(published: list[dict[str, str]]) -> None:
    shipped = [(one.name, row) for one in published_experiments() for row in one.rows]
    for (experiment, row), printed in zip(shipped, published, strict=True):
        shown = NAMES.get(printed["metric"], printed["metric"]).removesuffix(" Qty.")
        assert (experiment, LABELS[row.dimension], row.key) == (printed["exp"], shown, printed["json_key"])
        assert row.difference == float(printed["pub_delta"])
        for ours, theirs in (("treatment", "T"), ("control", "C")):
            assert getattr(row, f"{ours}_mean") == float(printed[f"pub_{theirs}_mean"])
            assert getattr(row, f"{ours}_sd") == float(printed[f"pub_{theirs}_sd"])


def test_holm_keeps_fewer_rows_than_the_paper_stars(rows: Comparison) -> None:
    # 15 of 19 rows have p <= 0.05. Sorted, the 10 smallest pass Holm at once; then 0.0037 x 9 = 0.034, 0.0063 x 8 =
    # 0.050 and more: the adjusted values of 0.0063 (0.0504), 0.0081, 0.0148 and 0.0496 are above 0.05.
    assert sum(row.welch.p <= 0.05 for row in rows.values()) == 15
    assert sum(row.p_holm <= 0.05 for row in rows.values()) == 11
