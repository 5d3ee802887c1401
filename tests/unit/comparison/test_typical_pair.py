"""The two games of a comparison that differ most nearly as the means of its sides do."""

from __future__ import annotations

from evaluation.comparison.iterations import typical_pair
from evaluation.iterations.tests import Game
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status


def game(name: str, **scores: float | None) -> Game:
    return Game(name, name, {metric: MetricScore(Status.PASSED, score, 50.0) for metric, score in scores.items()})


def test_the_pair_nearest_to_the_means_difference_is_taken_over_all_shared_metrics() -> None:
    before = [game("a", coherence=50, strategic_depth=50), game("b", coherence=90, strategic_depth=70)]
    after = [game("c", coherence=60, strategic_depth=60), game("d", coherence=20, strategic_depth=80)]
    # The means move by -30 and +10; a-c is 40 and 0 away from that, a-d 0 and 20, b-c 0 and 20, b-d 40 and 0.
    assert typical_pair(before, after) == ("a", "d")
    # With a third game whose coherence is higher the means move by -10 and +10: a-c is 20 and 0 away from that.
    assert typical_pair(before, [*after, game("e", coherence=100, strategic_depth=70)]) == ("a", "c")


def test_a_metric_without_a_score_on_one_side_stays_out() -> None:
    before = [game("a", coherence=50, engagement=1.0), game("b", coherence=40, engagement=5.0)]
    after = [game("c", coherence=64, engagement=None)]
    # By coherence alone the means move by 19, a-c by 14 and b-c by 24: the first of equal pairs.
    assert typical_pair(before, after) == ("a", "c")


def test_where_games_share_a_scenario_only_these_are_taken() -> None:
    before, after = (
        [game("a", coherence=0), game("b", coherence=50)],
        [game("c", coherence=100), game("d", coherence=60)],
    )
    # The means move by 55, a-d by 60, b-c by 50, a-c by 100, b-d by 10.
    assert typical_pair(before, after) == ("a", "d")
    assert typical_pair(before, after, [("a", "c"), ("b", "d")]) == ("a", "c")
