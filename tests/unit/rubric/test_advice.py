"""Advice comes for what fails, the worst first, from a data file that covers every metric."""

from __future__ import annotations

from evaluation.rubric.advice import advise, lowest_metric, nothing_to_fix, troubleshooting
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from tests.games import scores_of


def scores(**values: float | None) -> dict[str, MetricScore]:
    return scores_of({name: one.scale.high for name, one in DEFINITIONS.items()} | values)


def test_the_rubrics_appendix_is_advised_on_role_consistency() -> None:
    [advice] = advise(scores(role_consistency=76.0))
    assert (advice.about, advice.finding) == ("role_consistency", "76.0 %, below the threshold of 80 %")
    assert len(advice.actions) == 3


def test_what_fails_comes_by_its_relative_shortfall() -> None:
    # Engagement (3 - 2) / (3 - 1) = 0.5, depth (60 - 50) / 60 = 0.167, memory (80 - 79) / 80 = 0.0125.
    found = advise(scores(memory_accuracy=79.0, strategic_depth=50.0, engagement=2.0))
    assert [advice.about for advice in found] == ["engagement", "strategic_depth", "memory_accuracy"]
    assert lowest_metric(scores(memory_accuracy=79.0, strategic_depth=50.0, engagement=2.0)) == "engagement"


def test_when_nothing_fails_nothing_needs_fixing() -> None:
    # Issue 13: 99.3 of 100 with a threshold of 90 was told to vary its language, as it lay closest in points.
    healthy = scores(anti_repetition=99.3, strategic_depth=66.0)
    assert advise(healthy) == ()
    # Depth has (66 - 60) / (100 - 60) = 15 % of its headroom, anti-repetition 93 %.
    assert nothing_to_fix(healthy) == (
        "No metric fails so far. Closest to its threshold: Strategic depth, 66.0 % (at least 60 %)."
    )
    assert lowest_metric(healthy) == "strategic_depth"
    assert nothing_to_fix({}) == "No metric has a score yet."


def test_a_cost_above_the_limit_comes_first() -> None:
    found = advise(scores(coherence=10.0), 3.004)
    assert [advice.about for advice in found] == ["cost", "coherence"]
    assert found[0].finding == "3.004 USD, above the limit of 3.00 USD"
    assert advise(scores(coherence=10.0), 3.0)[0].about == "coherence"


def test_what_has_no_score_gets_no_advice() -> None:
    assert advise({}) == ()
    assert all(advice.about != "engagement" for advice in advise(scores(engagement=None)))


def test_every_metric_and_the_cost_have_actions() -> None:
    assert set(troubleshooting()) == {*DEFINITIONS, "cost"}
    assert all(sentence.endswith(".") for actions in troubleshooting().values() for sentence in actions)
