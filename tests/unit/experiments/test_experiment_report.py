"""The report of an experiment: hand-worked differences, and verdicts on the direction only."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evaluation.experiments.experiment import ExperimentPlan, experiment_result, scenarios
from evaluation.experiments.results import Activity, AgentScore, RunResult, Side, StatisticalComparison, StudyResult
from evaluation.experiments.study import Study
from evaluation.experiments.tables import (
    DirectionAgreement,
    PublishedRow,
    activity_words,
    direction,
    finding_words,
    published_rows,
    verdict_words,
)
from evaluation.judging.propositions import Dimension

PLANS = {each.published: ExperimentPlan(each, "m") for each in scenarios().values()}


def report(dimension: Dimension, treatment: list[Any], control: list[Any]) -> tuple[StatisticalComparison, ...]:
    """Of conversations between two agents each."""
    runs = [
        RunResult(
            side,
            room,
            scores=tuple(
                [AgentScore(f"agent {room + seat}", dimension, one) for seat, one in enumerate(values[room : room + 2])]
            ),
        )
        for side, values in ((Side.TREATMENT, treatment), (Side.CONTROL, control))
        for room in range(0, len(values), 2)
    ]
    return experiment_result(runs).comparisons


def row(
    dimension: Dimension, treatment: list[Any], control: list[Any], published: str | None = None
) -> tuple[StatisticalComparison, PublishedRow | None]:
    [found] = [one for one in report(dimension, treatment, control) if one.metric_name == dimension]
    return found, published_rows(PLANS[published]).get(dimension) if published else None


def test_a_row_is_treatment_minus_control() -> None:
    found, published = row(Dimension.FLUENCY, [5, 6, 7, 8], [3, 4, 5, 4], "2.2")
    # Means 6.5 and 4, sds sqrt(5/3) = 1.291 and sqrt(2/3) = 0.816; pooled sd sqrt((5/3 + 2/3) / 2) = 1.080.
    # d = 2.5 / 1.080 = 2.315; t = 2.5 / sqrt(5/12 + 2/12) = 3.273 with 5.07 degrees of freedom, p = 0.0217.
    assert (found.variant_b, found.mean_b, found.difference) == ("treatment", 6.5, 2.5)
    assert found.sd_a == pytest.approx(0.8165, abs=1e-4)
    assert found.effect_size == pytest.approx(2.3146, abs=1e-4)
    assert found.p_value == pytest.approx(0.0217, abs=2e-4)
    # The paper's treatment is lower here (-0.33); only this row is tested, so that Holm changes nothing.
    assert direction(found, published) is DirectionAgreement.OPPOSITE
    assert published is not None
    assert published.difference == -0.33
    # Pairs differ by 2, 2, 2 and 4: of 16 patterns of signs two are as extreme.
    assert found.paired_p == pytest.approx(0.125)


@pytest.mark.parametrize(
    ("treatment", "control", "published", "verdict"),
    [
        ([4.1, 4.2, 4.1, 4.2], [4, 4.01, 4, 4.01], "1", DirectionAgreement.SAME),
        # Means 4.03 and 4: t = 1, p = 0.42.
        ([4.1, 4, 4], [4, 4, 4], "1", DirectionAgreement.UNDECIDED),
        ([4, 5], [4, 5], "1", DirectionAgreement.UNDECIDED),
        ([], [4, 5], "1", DirectionAgreement.UNKNOWN),
        ([4, 6], [4, 5], None, DirectionAgreement.UNPUBLISHED),
        ([4, 6], [4, 5], "3", DirectionAgreement.UNPUBLISHED),
    ],
)
def test_the_verdict_is_on_the_direction_whatever_the_size(
    treatment: list[float], control: list[float], published: str | None, verdict: DirectionAgreement
) -> None:
    assert direction(*row(Dimension.IDEAS_QUANTITY, treatment, control, published)) is verdict


def test_without_any_score_there_is_no_test_and_no_crash() -> None:
    rows = experiment_result([]).comparisons
    assert len(rows) == 5
    assert all(math.isnan(each.difference) for each in rows)
    assert {str(each.outcome) for each in rows} == {"cannot be tested"}


def test_a_report_is_told_in_a_sentence_with_what_took_effect() -> None:
    clear, _ = row(Dimension.IDEAS_QUANTITY, [4.1, 4.2, 4.1, 4.2], [4, 4.01, 4, 4.01])
    other, _ = row(Dimension.FLUENCY, [4.1, 4, 4], [4, 4, 4])
    untested, _ = row(Dimension.FLUENCY, [], [])
    said = "With the treatment: Ideas higher beyond luck; 1 other difference could be luck."
    assert finding_words([clear, other]) == said
    assert finding_words([other] * 2) == "No effect of the treatment beyond luck: all 2 differences could be luck."
    assert finding_words([other, untested]).endswith("1 difference could be luck and 1 difference cannot be tested.")
    study = Study("1", PLANS["1"], result=StudyResult(comparisons=(clear, other)))
    words = "Of 2 differences in the paper: 1 the same way here, 1 could be luck here. "
    assert verdict_words([study]) == f"{words}Only directions are compared, not sizes."
    assert activity_words(StudyResult()) == activity_words(experiment_result([], "budget")) == ""
    for fired, words in (
        ({"variety": 6, "adherence": 0}, "In 64 messages it took effect: variety 6 times."),
        ({}, "It never took effect, so the two sides differ by chance alone. More steps may help."),
    ):
        done = Activity(messages=64)
        done.fired.update(fired)
        assert activity_words(experiment_result([RunResult(Side.TREATMENT, 0, activity=done)])) == words
