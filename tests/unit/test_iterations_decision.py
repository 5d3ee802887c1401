"""Keep or revert against the baseline, and the lowest metric, at every edge the design names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.iterations import Choice, Game, MetricMean, decide, mean_scores
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.ranking import lowest_metric
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status

Scores = dict[str, float | None]
# Two percent points above each threshold, and 3.5 of 5: everything passes.
GOOD: Scores = {name: (3.5 if name == "engagement" else d.threshold + 2) for name, d in DEFINITIONS.items()}


def game(scores: Scores, missing: Status = Status.PENDING) -> Game:
    metrics = {}
    for name, score in scores.items():
        threshold = DEFINITIONS[name].threshold
        status = missing if score is None else Status.PASSED if score >= threshold else Status.FAILED
        metrics[name] = MetricScore(status, score, threshold)
    return Game("t", "g", metrics)


def means(scores: Scores, missing: Status = Status.PENDING, games: int = 3) -> dict[str, MetricMean]:
    return mean_scores([game(scores, missing)] * games)


def test_a_higher_target_with_as_many_passes_is_kept() -> None:
    decision = decide(means(GOOD | {"coherence": 75.0}), means(GOOD), "coherence")
    assert decision.choice is Choice.KEEP
    assert decision.evidence == (
        "Conversation coherence, the target, rose from 72.0 % to 75.0 %.",
        "7 metrics passed before, 7 now.",
    )


def test_a_lower_target_is_reverted() -> None:
    assert decide(means(GOOD | {"coherence": 71.0}), means(GOOD), "coherence").choice is Choice.REVERT


def test_a_tie_is_reverted() -> None:
    decision = decide(means(GOOD), means(GOOD), "coherence")
    assert decision.choice is Choice.REVERT
    assert decision.evidence[0] == "Conversation coherence, the target, stayed at 72.0 %."


def test_a_tie_in_real_arithmetic_is_a_tie() -> None:
    # The mean of 0.1, 0.2 and 0.3 is 0.2, but not to the last bit.
    uneven = mean_scores([game(GOOD | {"coherence": value}) for value in (70.1, 70.2, 70.3)])
    assert decide(uneven, means(GOOD | {"coherence": 70.2}), "coherence").choice is Choice.REVERT


def test_a_higher_target_does_not_pay_for_a_lost_pass() -> None:
    decision = decide(means(GOOD | {"coherence": 90.0, "strategic_depth": 59.0}), means(GOOD), "coherence")
    assert (decision.choice, decision.passed_before, decision.passed_after) == (Choice.REVERT, 7, 6)
    assert [(fall.metric, fall.difference) for fall in decision.fell] == [("strategic_depth", -3.0)]
    assert "Lower than before: Strategic depth (62.0 % to 59.0 %)." in decision.evidence


def test_a_pass_lost_and_another_won_is_no_fall() -> None:
    before = GOOD | {"coherence": 60.0}
    after = GOOD | {"coherence": 80.0, "strategic_depth": 50.0}
    assert decide(means(after), means(before), "coherence").choice is Choice.KEEP


def test_without_a_named_target_the_baselines_lowest_decides() -> None:
    # Distances in widths: depth (50 - 60) / 100 = -0.10, engagement (2.8 - 3) / 4 = -0.05.
    baseline = GOOD | {"strategic_depth": 50.0, "engagement": 2.8}
    decision = decide(means(baseline | {"strategic_depth": 55.0}), means(baseline))
    assert (decision.target, decision.choice) == ("strategic_depth", Choice.KEEP)


@pytest.mark.parametrize(("side"), ["candidate", "baseline", "both"])
def test_a_target_without_a_score_on_a_side_cannot_decide(side: str) -> None:
    without = means(GOOD | {"engagement": None})
    candidate = without if side != "baseline" else means(GOOD)
    baseline = without if side != "candidate" else means(GOOD)
    decision = decide(candidate, baseline, "engagement")
    assert (decision.choice, decision.change) == (Choice.UNDECIDED, None)
    assert decision.evidence[0].startswith("Engagement, the target, has no score in ")


def test_a_baseline_without_games_cannot_decide() -> None:
    decision = decide(means(GOOD), mean_scores([]))
    assert (decision.choice, decision.target) == (Choice.UNDECIDED, None)
    assert decision.evidence == ("The baseline has no score, so there is nothing to compare with.",)


def test_an_unrated_iteration_is_not_reverted_for_the_rating_it_lacks() -> None:
    decision = decide(means(GOOD | {"coherence": 80.0, "engagement": None}), means(GOOD), "coherence")
    assert (decision.choice, decision.passed_after) == (Choice.UNDECIDED, 6)
    assert "Still open: Engagement." in decision.evidence


def test_two_unrated_iterations_compare_by_what_is_known() -> None:
    unrated = GOOD | {"engagement": None}
    assert decide(means(unrated | {"coherence": 80.0}), means(unrated), "coherence").choice is Choice.KEEP


def test_a_lower_target_is_reverted_even_while_ratings_are_missing() -> None:
    unrated = means(GOOD | {"coherence": 60.0, "engagement": None})
    assert decide(unrated, means(GOOD), "coherence").choice is Choice.REVERT


def test_a_metric_that_no_longer_applies_counts_as_a_lost_pass() -> None:
    roleless = means(GOOD | {"coherence": 80.0, "role_consistency": None}, Status.NOT_APPLICABLE)
    assert decide(roleless, means(GOOD), "coherence").choice is Choice.REVERT


def test_falls_are_listed_the_largest_first_in_widths_of_the_scale() -> None:
    # Engagement 0.4 of 4 = 10 %, depth 1 of 100 = 1 %; the target itself is not among them.
    after = GOOD | {"coherence": 71.0, "strategic_depth": 61.0, "engagement": 3.1}
    decision = decide(means(after), means(GOOD), "coherence")
    assert [fall.metric for fall in decision.fell] == ["engagement", "strategic_depth"]


def test_few_games_are_said_to_be_few() -> None:
    decision = decide(means(GOOD, games=2), means(GOOD), "coherence")
    assert decision.evidence[-1] == "2 games against 3: fewer than 3 are too few to rely on."


def test_the_lowest_metric_compares_in_widths_of_the_scale() -> None:
    # Engagement (2.5 - 3) / 4 = -0.125 is lower than depth (50 - 60) / 100 = -0.1, though 0.5 is less than 10.
    assert lowest_metric(means(GOOD | {"strategic_depth": 50.0, "engagement": 2.5})) == "engagement"


def test_of_two_equally_low_metrics_the_first_in_the_rubric_is_named() -> None:
    # Both 20 points below; engagement's 3.5 is (3.5 - 3) / 4 above.
    assert lowest_metric(means(GOOD | {"coherence": 50.0, "memory_accuracy": 60.0})) == "memory_accuracy"


def test_metrics_without_a_score_are_never_the_lowest() -> None:
    assert lowest_metric(means(dict.fromkeys(DEFINITIONS))) is None
    assert lowest_metric({}) is None


whole_scores = st.fixed_dictionaries(
    {
        name: st.one_of(st.none(), st.floats(d.scale.low, d.scale.high, allow_nan=False))
        for name, d in DEFINITIONS.items()
    }
)


@given(whole_scores, st.one_of(st.none(), st.sampled_from([*DEFINITIONS])))
def test_no_iteration_beats_itself(scores: Scores, target: str | None) -> None:
    assert decide(means(scores), means(scores), target).choice is not Choice.KEEP


@given(whole_scores, whole_scores, st.sampled_from([*DEFINITIONS]))
def test_two_iterations_are_never_both_better_than_each_other(one: Scores, other: Scores, target: str) -> None:
    both = {decide(means(one), means(other), target).choice, decide(means(other), means(one), target).choice}
    assert both != {Choice.KEEP}


@given(whole_scores, whole_scores, st.sampled_from([*DEFINITIONS]))
def test_keeping_means_a_higher_target_and_no_lost_pass(one: Scores, other: Scores, target: str) -> None:
    decision = decide(means(one), means(other), target)
    if decision.choice is Choice.KEEP:
        assert decision.change is not None
        assert decision.change.difference > 0
        assert decision.passed_after >= decision.passed_before
