"""Advice comes for what fails, the worst first, from a data file that covers every metric."""

from __future__ import annotations

from evaluation.advice import advise, troubleshooting
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status


def scores(**values: float | None) -> dict[str, MetricScore]:
    result = {}
    for name, definition in DEFINITIONS.items():
        value = values.get(name, definition.scale.high)
        passes = value is not None and value >= definition.threshold
        status = Status.PENDING if value is None else Status.PASSED if passes else Status.FAILED
        result[name] = MetricScore(status, value, definition.threshold)
    return result


def test_the_rubrics_appendix_is_advised_on_role_consistency() -> None:
    [advice] = advise(scores(role_consistency=76.0))
    assert (advice.about, advice.finding) == ("role_consistency", "76.0 %, below the threshold of 80 %")
    assert advice.is_failing
    assert len(advice.actions) == 3


def test_what_fails_comes_lowest_first_in_widths_of_the_scale() -> None:
    # Engagement (2 - 3) / 4 = -0.25, depth (50 - 60) / 100 = -0.1, memory (79 - 80) / 100 = -0.01.
    found = advise(scores(memory_accuracy=79.0, strategic_depth=50.0, engagement=2.0))
    assert [advice.about for advice in found] == ["engagement", "strategic_depth", "memory_accuracy"]


def test_when_nothing_fails_the_lowest_is_named_as_such() -> None:
    [advice] = advise(scores(anti_repetition=90.5))
    assert (advice.about, advice.is_failing) == ("anti_repetition", False)
    assert advice.finding == "90.5 %, the closest to its threshold"


def test_a_cost_above_the_limit_comes_first() -> None:
    found = advise(scores(coherence=10.0), 3.004)
    assert [advice.about for advice in found] == ["cost", "coherence"]
    assert found[0].finding == "$3.004, above the limit of $3.00"
    assert advise(scores(coherence=10.0), 3.0)[0].about == "coherence"


def test_what_has_no_score_gets_no_advice() -> None:
    assert advise({}) == ()
    assert all(advice.about != "engagement" for advice in advise(scores(engagement=None)))


def test_every_metric_and_the_cost_have_actions() -> None:
    assert set(troubleshooting()) == {*DEFINITIONS, "cost"}
    assert all(sentence.endswith(".") for actions in troubleshooting().values() for sentence in actions)
