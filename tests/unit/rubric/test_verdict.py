"""The rubric's overall evaluation, on its own examples, at its edges, and as properties."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import (
    MetricScore,
    VerdictStatus,
    apply_thresholds,
    compute_verdict,
    judge_automatic,
    judge_scores,
    known_usd,
)
from evaluation.score import Status
from evaluation.transcript import Cost
from tests.games import scores_of

AUTOMATIC = [name for name in DEFINITIONS if name != ENGAGEMENT.name]
# From worst to best: what "never worse" means below.
RANK = [VerdictStatus.FAILED, VerdictStatus.INAPPLICABLE, VerdictStatus.PENDING, VerdictStatus.PASSED]


def unscored(name: str, status: Status, reason: str = "") -> MetricScore:
    return MetricScore(status, None, DEFINITIONS[name].threshold, reason)


def metrics(passing: int, engagement: float | None = 3.5, other: Status = Status.FAILED) -> dict[str, MetricScore]:
    """The first ``passing`` automatic metrics pass, the other ones are ``other``."""
    value = 10.0 if other is Status.FAILED else None
    automatic = {name: 100.0 if place < passing else value for place, name in enumerate(AUTOMATIC)}
    missing = unscored(ENGAGEMENT.name, Status.PENDING, "not rated yet")
    rated = {ENGAGEMENT.name: missing} if engagement is None else scores_of({ENGAGEMENT.name: engagement})
    return scores_of(automatic, missing=other) | rated


def appendix(**changes: float) -> dict[str, MetricScore]:
    scores = dict(zip(DEFINITIONS, (85.0, 68.0, 74.0, 76.0, 60.0, 92.0, 3.5), strict=True))
    return scores_of(scores | changes)


def test_the_rubrics_appendix_passes_six_of_seven() -> None:
    verdict = compute_verdict(appendix(), Cost(total_usd=1.2, input_tokens=10))
    assert verdict.status is VerdictStatus.PASSED
    assert verdict.passed_count == 6
    assert verdict.reasons == (
        "6 of 7 metrics pass; 5 are needed.",
        "Role consistency is 76.0 %, below the threshold of 80 %.",
    )


ENGAGEMENT_FAILS = "Engagement is 2.5 of 5, below the threshold of 3; it is mandatory."
NONE_APPLY = (
    "Only 4 of 7 metrics apply, and 5 are needed: no Role consistency, Personality diversity and Anti-repetition."
)
CANNOT_BRING = "Only 3 of 7 metrics pass; 5 are needed, and the 1 pending one cannot bring that."


@pytest.mark.parametrize(
    ("scores", "usd", "status", "passed", "reason"),
    [
        (metrics(6, engagement=2.5), None, VerdictStatus.FAILED, 6, ENGAGEMENT_FAILS),
        # Three automatic metrics and engagement.
        (metrics(3, engagement=4.0), None, VerdictStatus.FAILED, 4, "Only 4 of 7 metrics pass; 5 are needed."),
        (metrics(6), 3.0, VerdictStatus.PASSED, 7, "7 of 7 metrics pass; 5 are needed."),
        # Not rounded onto the limit.
        (metrics(6), 3.001, VerdictStatus.FAILED, 7, "The cost of 3.001 USD is above the limit of 3.00 USD."),
        (metrics(3, other=Status.NOT_APPLICABLE), None, VerdictStatus.INAPPLICABLE, 4, NONE_APPLY),
        # Not even a good rating could bring five.
        (metrics(3, engagement=None), None, VerdictStatus.FAILED, 3, CANNOT_BRING),
    ],
)
def test_the_verdict_and_what_decides_it(
    scores: dict[str, MetricScore], usd: float | None, status: VerdictStatus, passed: int, reason: str
) -> None:
    verdict = judge_scores(scores, usd)
    assert (verdict.status, verdict.passed_count, verdict.reasons[0]) == (status, passed, reason)


@pytest.mark.parametrize("cost", [None, Cost(), Cost(total_usd=0.0, input_tokens=0, output_tokens=0, cached_tokens=0)])
def test_an_unknown_cost_decides_nothing_and_says_so(cost: Cost | None) -> None:
    verdict = compute_verdict(metrics(6), cost)
    assert known_usd(cost) is None
    assert verdict.status is VerdictStatus.PASSED
    assert verdict.reasons[-1] == "The cost is unknown, so it did not enter the verdict."


def test_cost_and_engagement_come_before_applicability() -> None:
    few = metrics(2, engagement=2.0, other=Status.NOT_APPLICABLE)
    assert judge_scores(few, None).status is VerdictStatus.FAILED
    few = metrics(2, engagement=None, other=Status.NOT_APPLICABLE)
    assert judge_scores(few, 5.0).status is VerdictStatus.FAILED


def test_pending_while_a_rating_could_bring_the_fifth_pass() -> None:
    verdict = judge_scores(metrics(4, engagement=None), None)
    assert verdict.status is VerdictStatus.PENDING
    assert "Engagement is pending: not rated yet." in verdict.reasons


WAITING = {AUTOMATIC[5]: unscored(AUTOMATIC[5], Status.PENDING)}


@pytest.mark.parametrize(
    ("scores", "status"),
    [
        (metrics(4, other=Status.NOT_APPLICABLE), VerdictStatus.PASSED),
        # Without a rating it waits, however many pass.
        (metrics(6, engagement=None), VerdictStatus.PENDING),
        # A judge could bring the fifth pass, or is not needed for it.
        (metrics(3, engagement=3.0) | WAITING, VerdictStatus.PENDING),
        (metrics(5) | WAITING, VerdictStatus.PASSED),
    ],
)
def test_what_waits_and_what_does_not_apply_hold_up_a_verdict_that_hangs_on_them_only(
    scores: dict[str, MetricScore], status: VerdictStatus
) -> None:
    assert judge_scores(scores, None).status is status


def test_a_metric_that_could_not_be_computed_is_no_mark() -> None:
    partial = metrics(4)
    del partial[AUTOMATIC[5]]
    verdict = judge_scores(partial, None)
    assert verdict.status is VerdictStatus.PASSED
    assert "Anti-repetition could not be computed." in verdict.reasons
    assert judge_scores({}, None).status is VerdictStatus.PENDING


def test_every_reason_is_listed() -> None:
    reasons = judge_scores(metrics(1, engagement=1.0), 4.5).reasons
    assert reasons[:3] == (
        "The cost of 4.50 USD is above the limit of 3.00 USD.",
        "Engagement is 1.0 of 5, below the threshold of 3; it is mandatory.",
        "Only 1 of 7 metrics pass; 5 are needed.",
    )
    assert len(reasons) == 3 + 5  # and one for each automatic metric that failed


def test_a_score_just_below_its_threshold_does_not_look_equal_to_it() -> None:
    near = judge_scores(appendix(role_consistency=79.996), 1.0)
    assert "Role consistency is 79.996 %, below the threshold of 80 %." in near.reasons


def test_thresholds_are_applied_on_reading() -> None:
    lenient = apply_thresholds(appendix(), {"role_consistency": 76.0})
    assert lenient["role_consistency"] == MetricScore(Status.PASSED, 76.0, 76.0)
    assert judge_scores(lenient, None).passed_count == 7
    strict = apply_thresholds(appendix(), {"engagement": 4.0})
    assert judge_scores(strict, None).status is VerdictStatus.FAILED


def test_a_new_threshold_gives_no_number_to_what_has_none() -> None:
    pending = {"engagement": unscored("engagement", Status.PENDING, "not rated yet")}
    assert apply_thresholds(pending, {"engagement": 1.0})["engagement"] == MetricScore(
        Status.PENDING, None, 1.0, "not rated yet"
    )


@pytest.mark.parametrize(
    ("passing", "other", "usd", "status"),
    [
        (4, Status.FAILED, None, VerdictStatus.PASSED),
        (3, Status.FAILED, None, VerdictStatus.FAILED),
        (3, Status.PENDING, None, VerdictStatus.PENDING),
        (4, Status.FAILED, 3.5, VerdictStatus.FAILED),
        (4, Status.NOT_APPLICABLE, None, VerdictStatus.PASSED),
        (3, Status.NOT_APPLICABLE, None, VerdictStatus.INAPPLICABLE),
    ],
)
@pytest.mark.parametrize("engagement", [None, 1.0, 5.0])
def test_the_automatic_verdict_asks_whether_a_rating_could_still_make_it_pass(
    passing: int, other: Status, usd: float | None, status: VerdictStatus, engagement: float | None
) -> None:
    assert judge_automatic(metrics(passing, engagement, other), usd).status is status


statuses = st.fixed_dictionaries({name: st.sampled_from([*Status]) for name in AUTOMATIC}).flatmap(
    lambda automatic: st.sampled_from([Status.PASSED, Status.FAILED, Status.PENDING]).map(
        lambda engagement: automatic | {ENGAGEMENT.name: engagement}
    )
)
costs = st.one_of(st.none(), st.floats(0.0, 10.0))


def from_statuses(given_statuses: dict[str, Status]) -> dict[str, MetricScore]:
    values = {Status.PASSED: lambda d: d.scale.high, Status.FAILED: lambda d: d.scale.low}
    return {
        name: MetricScore(status, values[status](d) if status in values else None, d.threshold)
        for (name, status), d in zip(given_statuses.items(), DEFINITIONS.values(), strict=True)
    }


@given(statuses, costs, st.sampled_from([*DEFINITIONS]))
def test_passing_one_more_metric_never_makes_the_verdict_worse(
    drawn: dict[str, Status], usd: float | None, name: str
) -> None:
    if drawn[name] is not Status.FAILED:
        return
    before = judge_scores(from_statuses(drawn), usd)
    after = judge_scores(from_statuses(drawn | {name: Status.PASSED}), usd)
    assert RANK.index(after.status) >= RANK.index(before.status)
    assert after.passed_count == before.passed_count + 1


@given(statuses, costs)
def test_a_passed_verdict_means_what_the_rubric_says(drawn: dict[str, Status], usd: float | None) -> None:
    verdict = judge_scores(from_statuses(drawn), usd)
    meets = list(drawn.values()).count(Status.PASSED) >= 5 and drawn[ENGAGEMENT.name] is Status.PASSED
    assert (verdict.status is VerdictStatus.PASSED) == (meets and (usd is None or usd <= 3.0))
    assert verdict.reasons


@given(statuses, costs)
def test_a_pending_verdict_can_still_turn_out_either_way(drawn: dict[str, Status], usd: float | None) -> None:
    if judge_scores(from_statuses(drawn), usd).status is not VerdictStatus.PENDING:
        return
    waiting = [name for name, status in drawn.items() if status is Status.PENDING]
    outcomes = {
        judge_scores(from_statuses(drawn | dict(zip(waiting, settled, strict=True))), usd).status
        for settled in itertools.product((Status.PASSED, Status.FAILED), repeat=len(waiting))
    }
    assert outcomes == {VerdictStatus.PASSED, VerdictStatus.FAILED}


@given(statuses, costs)
def test_what_fails_the_automatic_gate_cannot_pass_once_rated(drawn: dict[str, Status], usd: float | None) -> None:
    if judge_automatic(from_statuses(drawn), usd).status is VerdictStatus.PASSED:
        rated = judge_scores(from_statuses(drawn | {ENGAGEMENT.name: Status.PASSED}), usd)
        assert rated.status is VerdictStatus.PASSED
    elif Status.PENDING not in [drawn[name] for name in AUTOMATIC]:
        for engagement in (Status.PASSED, Status.FAILED):
            rated = judge_scores(from_statuses(drawn | {ENGAGEMENT.name: engagement}), usd)
            assert rated.status is not VerdictStatus.PASSED
