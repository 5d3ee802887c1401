"""The board: everything known about the iterations, for the Overview page and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.iterations.checklist import Checklist, checklist
from evaluation.iterations.evidence import disagreement_words, regression_words, target_difference
from evaluation.iterations.iteration import Iteration, baseline_before, reference_of
from evaluation.iterations.keep_or_revert import Decision, IterationSide, decide, side_failures, side_means
from evaluation.iterations.tests import (
    TEST_SIZE,
    Chance,
    Game,
    GameTest,
    KnownMean,
    MetricMean,
    chance_of_streak,
    form_tests,
    judge_games,
    known_mean,
)
from evaluation.kept_values import KeptValues
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from evaluation.rubric.lowest_metric import lowest_metric
from evaluation.rubric.verdict import Verdict


@dataclass(frozen=True, slots=True)
class IterationSummary:
    """One iteration with its games, tests and means.

    Attributes:
        means: Each metric over all games of the iteration that have a score.
        verdict: Of all its games together, see :func:`~evaluation.iterations.tests.judge_games`; ``None`` without
            games.
        lowest: The metric with the largest shortfall, else the least headroom; ``None`` without scores.
        decision: Keep or revert against its reference; ``None`` when it has none.
    """

    iteration: Iteration
    games: tuple[Game, ...]
    tests: tuple[GameTest, ...]
    means: Mapping[str, MetricMean]
    cost_usd: KnownMean
    cache_hit_rate: KnownMean
    verdict: Verdict | None
    lowest: str | None
    decision: Decision | None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for its reader: no games yet, or tests with too few."""
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
        """The iteration that is marked as the baseline; ``None`` when none is."""
        return next((summary for summary in self.iterations if summary.iteration.is_baseline), None)

    def decision_words(self, name: str) -> tuple[str, ...]:
        """The sentences beside the decision on an iteration, in reading order.

        Its reasons, the baseline where that is not the reference, where the games do not say what the rule says, and
        the warning about a target that was low. Empty without a decision.

        Raises:
            KeyError: There is no iteration of that name.
        """
        summary = self[name]
        decision = summary.decision
        if decision is None:
            return ()
        reference = self[decision.reference]
        difference = target_difference(decision, reference.games, summary.games)
        beside = decision.baseline_words, disagreement_words(decision, difference)
        warning = regression_words(decision, reference.means)
        return (*decision.reasons, *filter(None, (*beside, warning)))

    def __getitem__(self, name: str) -> IterationSummary:
        """The iteration of that name; ``KeyError`` when there is none."""
        for summary in self.iterations:
            if summary.iteration.name == name:
                return summary
        raise KeyError(name)


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
    sides = {one.name: IterationSide(one, tuple(games.get(one.name, ()))) for one in ordered}
    summaries = tuple(_kept_summary(sides[one.name], sides, ordered, thresholds, size) for one in ordered)
    tests = [test for summary in summaries for test in summary.tests]
    played = [summary for summary in summaries if summary.games] or list(summaries)
    current = played[-1] if played else None
    return Board(summaries, checklist(tests, current.iteration if current else None), chance_of_streak(tests), current)


_summaries: KeptValues[IterationSummary] = KeptValues(200)


def _kept_summary(
    own: IterationSide,
    sides: Mapping[str, IterationSide],
    ordered: Sequence[Iteration],
    thresholds: Mapping[str, float],
    size: int,
) -> IterationSummary:
    """The summary made last, while the iteration, those that it is held against and the settings are what they were."""
    others = (reference_of(own.iteration, ordered), baseline_before(own.iteration, ordered))
    held = tuple(sides[one.name] if one else None for one in others)
    source = (own, held, dict(thresholds), size)
    return _summaries.get(own.name, source, lambda: _summary(own, sides, ordered, thresholds, size))


def _summary(
    own: IterationSide,
    sides: Mapping[str, IterationSide],
    ordered: Sequence[Iteration],
    thresholds: Mapping[str, float],
    size: int,
) -> IterationSummary:
    means = side_means(own, thresholds)
    cost = known_mean(own.games, lambda game: game.total_usd)
    reference, baseline = reference_of(own.iteration, ordered), baseline_before(own.iteration, ordered)
    return IterationSummary(
        iteration=own.iteration,
        games=own.games,
        tests=form_tests(own.iteration.name, own.games, thresholds, size),
        means=means,
        cost_usd=cost,
        cache_hit_rate=known_mean(own.games, lambda game: game.cache_hit_rate),
        verdict=judge_games(means, cost.mean, side_failures(own, thresholds)) if own.games else None,
        lowest=lowest_metric(means),
        decision=decide(own, sides[reference.name], sides[baseline.name] if baseline else None, thresholds)
        if reference
        else None,
    )
