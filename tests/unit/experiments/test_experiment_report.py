"""The report of an experiment: hand-worked differences, and verdicts on the direction only."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from evaluation.experiments.plan import AgentScore, ExperimentRecord, Side
from evaluation.experiments.report import (
    DirectionAgreement,
    ReportRow,
    activity_words,
    finding_words,
    report_rows,
    verdict_words,
)
from evaluation.judging.propositions import Dimension


def scores(dimension: Dimension, treatment: list[Any], control: list[Any]) -> list[AgentScore]:
    return [
        AgentScore(side, number // 2, f"agent {number}", dimension, score)
        for side, values in ((Side.TREATMENT, treatment), (Side.CONTROL, control))
        for number, score in enumerate(values)
    ]


def row(rows: list[ReportRow], dimension: Dimension) -> ReportRow:
    return next(each for each in rows if each.dimension is dimension)


def test_a_row_is_treatment_minus_control() -> None:
    found = row(report_rows(scores(Dimension.FLUENCY, [5, 6, 7, 8], [3, 4, 5, 4]), "2.2"), Dimension.FLUENCY)
    # Means 6.5 and 4, sds sqrt(5/3) = 1.291 and sqrt(2/3) = 0.816; pooled sd sqrt((5/3 + 2/3) / 2) = 1.080.
    # d = 2.5 / 1.080 = 2.315; t = 2.5 / sqrt(5/12 + 2/12) = 3.273 with 5.07 degrees of freedom, p = 0.0217.
    data = found.as_dict()
    assert data["treatment_mean"] == 6.5
    assert data["control_sd"] == pytest.approx(0.8165, abs=1e-4)
    assert data["difference"] == 2.5
    assert data["cohens_d"] == pytest.approx(2.3146, abs=1e-4)
    assert data["t_statistic"] == pytest.approx(3.2733, abs=1e-4)
    assert data["p_value"] == pytest.approx(0.0217, abs=2e-4)
    # The paper's treatment is lower here (-0.33); only this row is tested, so that Holm changes nothing.
    assert found.direction is DirectionAgreement.OPPOSITE
    assert data["published"]["difference"] == -0.33
    assert found.found.paired is not None
    assert found.found.paired.difference == 2.5


def test_the_verdict_is_on_the_direction_whatever_the_size() -> None:
    found = row(
        report_rows(scores(Dimension.IDEAS_QUANTITY, [4.1, 4.2, 4.1, 4.2], [4, 4.01, 4, 4.01]), "1"),
        Dimension.IDEAS_QUANTITY,
    )
    assert found.direction is DirectionAgreement.SAME


def test_a_direction_that_may_be_chance_is_undecided() -> None:
    # Means 4.03 and 4: t = 1, p = 0.42.
    rows = report_rows(scores(Dimension.IDEAS_QUANTITY, [4.1, 4, 4], [4, 4, 4]), "1")
    found = row(rows, Dimension.IDEAS_QUANTITY)
    assert found.direction is DirectionAgreement.UNDECIDED
    assert found.as_dict()["outcome"] == "no evidence either way"
    words = "Of 1 difference in the paper: 1 could be luck here. Only directions are compared, not sizes."
    assert verdict_words([found.as_dict()]) == words


@pytest.mark.parametrize(
    ("treatment", "control", "published", "verdict"),
    [
        ([4, 5], [4, 5], "1", DirectionAgreement.UNDECIDED),
        ([], [4, 5], "1", DirectionAgreement.UNKNOWN),
        ([4, 6], [4, 5], None, DirectionAgreement.UNPUBLISHED),
        ([4, 6], [4, 5], "3", DirectionAgreement.UNPUBLISHED),
    ],
)
def test_what_cannot_be_compared_says_so(
    treatment: list[float], control: list[float], published: str | None, verdict: DirectionAgreement
) -> None:
    found = row(report_rows(scores(Dimension.IDEAS_QUANTITY, treatment, control), published), Dimension.IDEAS_QUANTITY)
    assert found.direction is verdict


def test_without_any_score_there_is_no_test_and_no_crash() -> None:
    rows = report_rows([])
    assert len(rows) == 5
    assert all(math.isnan(each.found.difference) for each in rows)
    assert {each.as_dict()["outcome"] for each in rows} == {"cannot be tested"}


def test_a_report_is_told_in_a_sentence_with_what_took_effect() -> None:
    clear, other = {"label": "Ideas", "outcome": "higher"}, {"label": "Fluency", "outcome": "no evidence either way"}
    assert (
        finding_words([clear, other])
        == "With the treatment: Ideas higher beyond luck; 1 other difference could be luck."
    )
    assert finding_words([other] * 2) == "No effect of the treatment beyond luck: all 2 differences could be luck."
    untested = other | {"outcome": "cannot be tested"}
    assert finding_words([other, untested]).endswith("1 difference could be luck and 1 difference cannot be tested.")
    record = ExperimentRecord("1", "Tea", "tea", 0, 1.0, {})
    assert activity_words(record) == ""
    for fired, words in (
        ({"variety": 6, "adherence": 0}, "In 64 messages it took effect: variety 6 times."),
        ({}, "It never took effect, so the two sides differ by chance alone. More steps may help."),
    ):
        results = {"activity": {"treatment": {"messages": 64, "fired": fired}}}
        assert activity_words(replace(record, results=results)) == words
