"""The labelled rows of coherence and strategic depth: which half is read, and the log of openings."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from benchmarks.labels_rows import KEPT, SETS, open_kept, tuning_figures

ROOT = Path(__file__).parents[3]


def test_the_tuning_figures_are_of_the_tuning_half_alone() -> None:
    drawn = [json.loads(line) for line in (ROOT / "data/labels/drawn.jsonl").read_text("utf-8").splitlines()]
    for metric, figures in tuning_figures().items():
        tuning = [row for row in drawn if row["set_name"] == SETS[metric] and row["half"] != KEPT]
        assert figures[0].beside.startswith(f"{len(tuning)} messages")
        values = {one.name: one.value for one in figures}
        assert 0.7 < values["balanced accuracy"] <= 1
        assert values["floor, always the commonest answer"] < values["agreement of both readings"]


def test_opening_the_kept_half_is_logged_with_date_and_commit(tmp_path: Path) -> None:
    log = tmp_path / "openings.csv"
    open_kept({"coherence: kappa": 0.5}, log)
    open_kept({"coherence: kappa": 0.625, "strategic_depth: kappa": 0.25}, log)
    rows = list(csv.DictReader(log.read_text("utf-8").splitlines()))
    assert [(row["set"], row["figure"], row["value"]) for row in rows] == [
        ("coherence", "kappa", "0.5"),
        ("coherence", "kappa", "0.625"),
        ("strategic_depth", "kappa", "0.25"),
    ]
    assert all(row["opened_at"] and row["commit"] for row in rows)
