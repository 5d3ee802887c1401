"""The two games of a comparison whose scores lie farthest apart."""

from __future__ import annotations

from evaluation.comparison.iterations import most_moved_pair
from evaluation.iterations.tests import Game
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status


def game(name: str, **scores: float | None) -> Game:
    return Game(name, name, {metric: MetricScore(Status.PASSED, score, 50.0) for metric, score in scores.items()})


def test_the_mean_difference_of_shared_metrics_decides_whichever_way_it_went() -> None:
    before = [game("a", coherence=50, strategic_depth=50), game("b", coherence=90, strategic_depth=70)]
    after = [game("c", coherence=60, strategic_depth=60), game("d", coherence=20, strategic_depth=80)]
    # a-c 10, a-d 30, b-c (30 + 10) / 2 = 20, b-d (70 + 10) / 2 = 40.
    assert most_moved_pair(before, after) == ("b", "d")


def test_a_metric_without_a_score_on_one_side_stays_out() -> None:
    before = [game("a", coherence=50, engagement=1.0), game("b", coherence=40, engagement=5.0)]
    after = [game("c", coherence=60, engagement=None)]
    # By coherence alone b-c is 20 and a-c 10; engagement is pending after.
    assert most_moved_pair(before, after) == ("b", "c")


def test_where_games_share_a_scenario_only_these_are_taken() -> None:
    before, after = (
        [game("a", coherence=0), game("b", coherence=50)],
        [game("c", coherence=100), game("d", coherence=60)],
    )
    assert most_moved_pair(before, after) == ("a", "c")
    assert most_moved_pair(before, after, [("a", "d"), ("b", "c")]) == ("a", "d")
