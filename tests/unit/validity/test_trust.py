"""Trust in each metric's number: the degrees by hand, and the shipped figures against what the benchmarks logged."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.validity import Trust, decided_words, measured, metric_trust

OPENINGS = Path("data/labels/openings.csv")
FIGURES = {
    "memory_accuracy": "holds a reference: F1",
    "strategic_depth": "strategic depth: balanced accuracy",
    "coherence": "answers: balanced accuracy",
    "role_consistency": "acts with target: macro F1",
}
SETS = {"known": "kept", "other": "kept source"}
FITTED = "reader fitted without them"


def noticed(metric: str, auc: float, measure: str = "score") -> dict[str, object]:
    return {"metric": metric, "measure": measure, "auc": auc, "games": 4}


def by_name(*faults: dict[str, object]) -> dict[str, Trust]:
    return {one.metric: one.trust for one in metric_trust(faults or None)}


def test_the_worst_of_reading_and_noticing_decides() -> None:
    # Reading: depth 0.90 and 0.77, coherence 0.71 and 0.70, role 0.52 and 0.36.
    found = by_name()
    assert list(found) == list(DEFINITIONS)
    assert found["strategic_depth"] is Trust.WITH_CARE
    assert found["coherence"] is Trust.WITH_CARE
    assert found["role_consistency"] is Trust.HARDLY
    assert found["engagement"] is Trust.YES
    assert by_name(noticed("coherence", 0.59))["coherence"] is Trust.HARDLY
    assert by_name(noticed("anti_repetition", 0.8))["anti_repetition"] is Trust.YES
    assert by_name(noticed("anti_repetition", 0.79))["anti_repetition"] is Trust.WITH_CARE


def test_own_games_come_first_and_test_games_stand_in_where_none_could_be_tested() -> None:
    found = {one.metric: one for one in metric_trust([noticed("coherence", 1.0)])}
    assert "falls in 100 of 100 copies of 4 games of yours" in found["coherence"].sentences[-1]
    assert "of 26 test games" in " ".join(found["anti_repetition"].sentences)
    assert found["anti_repetition"].trust is Trust.YES


def test_a_companion_is_named_where_it_notices_more() -> None:
    rows = [noticed("coherence", 0.7), noticed("coherence", 0.9, "link_strength")]
    assert "link strength, falls in 90 of 100" in " ".join(metric_trust(rows)[2].sentences)
    rows[1]["auc"] = 0.6
    assert "link strength" not in " ".join(metric_trust(rows)[2].sentences)


@pytest.fixture(scope="module")
def logged() -> dict[tuple[str, str], tuple[str, str]]:
    """The last logged value and words of each set and figure."""
    with OPENINGS.open(encoding="utf-8", newline="") as file:
        return {(row["set"], row["figure"]): (row["value"], row["words"]) for row in csv.DictReader(file)}


def test_the_shipped_figures_are_those_that_the_benchmark_logged(logged: dict) -> None:
    for metric, figure in FIGURES.items():
        for kind, half in SETS.items():
            for who, name in (("reader", FITTED), ("rule", "rule alone")):
                value = float(logged[f"{half}, {name}", figure][0])
                assert measured()["reading"][metric][kind][who] == pytest.approx(value, abs=0.006), (metric, kind, who)
    for kind, half in SETS.items():
        right, all_ = measured()["settled"][kind]
        assert logged[f"{half}, {FITTED}", "settled references: right"][1] == f"{right} of {all_}"


def test_what_the_readers_own_chance_is_worth_is_said_where_it_was_measured() -> None:
    said = {name: decided_words(name) for name in DEFINITIONS}
    right, rows = measured()["decided"]["strategic_depth"]
    assert said["strategic_depth"] == f"right in {right} of {rows} such decisions in other games"
    assert said["coherence"] == ""
