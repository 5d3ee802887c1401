"""Everything that is known about the iterations, in one value: what the overview page and the CLI show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.iterations.chance import Chance, chance_of_streak
from evaluation.iterations.checklist import Checklist, checklist
from evaluation.iterations.decision import Decision, decide
from evaluation.iterations.model import Iteration
from evaluation.iterations.tests import (
    TEST_SIZE,
    Game,
    GameTest,
    Known,
    MetricMean,
    form_tests,
    judge_means,
    known_mean,
    mean_scores,
)
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from evaluation.rubric.ranking import lowest_metric
from evaluation.rubric.verdict import Verdict


@dataclass(frozen=True, slots=True)
class IterationSummary:
    """One iteration with its games, tests and means.

    Attributes:
        means: Each metric over all games of the iteration that have a score.
        verdict: By the rule for transcripts on ``means``, pending while a game is unrated; ``None`` without games.
        lowest: The metric furthest below (or least above) its threshold; ``None`` without scores.
        decision: Keep or revert against the baseline; ``None`` for the baseline, what came before it, and when no
            iteration is marked as the baseline.
    """

    iteration: Iteration
    games: tuple[Game, ...]
    tests: tuple[GameTest, ...]
    means: Mapping[str, MetricMean]
    cost_usd: Known
    cache_hit_rate: Known
    verdict: Verdict | None
    lowest: str | None
    decision: Decision | None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind when reading it: no games yet, or tests with too few."""
        if not self.games:
            return ("No games yet.",)
        return tuple(f"Test {test.number}: {test.warning}" for test in self.tests if test.warning)


@dataclass(frozen=True, slots=True)
class Board:
    """All iterations in their order, and what their tests taken together say.

    Attributes:
        current: The latest iteration that has games, else the latest; ``None`` when there is none. Its sign-off counts.
        chance: Of the next three tests passing; ``None`` while no complete test is decided.
    """

    iterations: tuple[IterationSummary, ...]
    checklist: Checklist
    chance: Chance | None
    current: IterationSummary | None

    @property
    def tests(self) -> tuple[GameTest, ...]:
        """All tests, oldest iteration first."""
        return tuple(test for summary in self.iterations for test in summary.tests)

    @property
    def baseline(self) -> IterationSummary | None:
        """The iteration that the others are compared with; ``None`` when none is marked."""
        return next((summary for summary in self.iterations if summary.iteration.is_baseline), None)


def make_board(
    iterations: Sequence[Iteration],
    games: Mapping[str, Sequence[Game]],
    thresholds: Mapping[str, float] = DEFAULT_THRESHOLDS,
    size: int = TEST_SIZE,
) -> Board:
    """The board over ``iterations``.

    Args:
        iterations: In any order; their positions decide.
        games: Each iteration's games by its name, in the order in which they were added.
        thresholds: Today's thresholds by metric; the rubric's where one is left out.
        size: How many games make a test.
    """
    ordered = sorted(iterations, key=lambda iteration: iteration.position)
    baseline = next((iteration for iteration in ordered if iteration.is_baseline), None)
    means = {one.name: mean_scores(games.get(one.name, ()), thresholds) for one in ordered}
    summaries = tuple(_summary(one, games.get(one.name, ()), means, baseline, thresholds, size) for one in ordered)
    tests = [test for summary in summaries for test in summary.tests]
    played = [summary for summary in summaries if summary.games] or list(summaries)
    current = played[-1] if played else None
    return Board(summaries, checklist(tests, current.iteration if current else None), chance_of_streak(tests), current)


def _summary(
    iteration: Iteration,
    games: Sequence[Game],
    means: Mapping[str, Mapping[str, MetricMean]],
    baseline: Iteration | None,
    thresholds: Mapping[str, float],
    size: int,
) -> IterationSummary:
    own = means[iteration.name]
    cost = known_mean(games, lambda game: game.total_usd)
    comparable = baseline is not None and iteration.position > baseline.position
    return IterationSummary(
        iteration=iteration,
        games=tuple(games),
        tests=form_tests(iteration.name, games, thresholds, size),
        means=own,
        cost_usd=cost,
        cache_hit_rate=known_mean(games, lambda game: game.cache_hit_rate),
        verdict=judge_means(own, cost.mean) if games else None,
        lowest=lowest_metric(own),
        decision=decide(own, means[baseline.name], iteration.target_metric) if baseline and comparable else None,
    )
