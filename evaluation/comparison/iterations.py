"""Two iterations side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.comparison.movers import Mover
from evaluation.iterations.decision import Decision, decide
from evaluation.iterations.model import Iteration
from evaluation.iterations.tests import Game, mean_scores
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, DEFINITIONS
from evaluation.score import PERCENT
from evaluation.statistics.comparison import Comparison, Measure, compare


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: the iteration, and its games in the order of playing."""

    iteration: Iteration
    games: tuple[Game, ...]


@dataclass(frozen=True, slots=True)
class IterationComparison:
    """What changed from one iteration to another.

    Attributes:
        comparison: Every metric's difference, in the rubric's order; the family of Holm's adjustment.
        decision: The rubric's keep or revert, as if ``before`` were the baseline.
        pairs: Ids of games that share a scenario or seed.
        movers: What moved the scores most, the largest first.
    """

    before: Side
    after: Side
    comparison: Comparison
    decision: Decision
    pairs: tuple[tuple[str, str], ...]
    movers: tuple[Mover, ...]


def compare_iterations(
    before: Side,
    after: Side,
    pairs: Sequence[tuple[str, str]] = (),
    movers: Sequence[Mover] = (),
    thresholds: Mapping[str, float] = DEFAULT_THRESHOLDS,
    *,
    seed: int = 0,
) -> IterationComparison:
    """Compares two iterations; a game is the unit of sampling.

    Args:
        before: The control.
        after: The treatment, whose change is to be kept or reverted.
        pairs: Ids of games that share a scenario or seed, before and after.
        movers: What moved the scores, see :func:`~evaluation.comparison.movers.biggest_movers`.
        thresholds: Today's, for the decision.
        seed: Of what is drawn for the intervals.
    """
    measures = {name: _measure(name, before.games, after.games, pairs) for name in DEFINITIONS}
    decision = decide(
        mean_scores(after.games, thresholds), mean_scores(before.games, thresholds), after.iteration.target_metric
    )
    return IterationComparison(before, after, compare(measures, seed=seed), decision, tuple(pairs), tuple(movers))


def _measure(name: str, before: Sequence[Game], after: Sequence[Game], pairs: Sequence[tuple[str, str]]) -> Measure:
    scale = DEFINITIONS[name].scale
    old = {game.transcript_id: _score(game, name) for game in before}
    new = {game.transcript_id: _score(game, name) for game in after}
    return Measure(
        list(old.values()),
        list(new.values()),
        [(old[one], new[other]) for one, other in pairs],
        (scale.low, scale.high),
        "%" if scale == PERCENT else "",
    )


def _score(game: Game, name: str) -> float:
    scored = game.metrics.get(name)
    return math.nan if scored is None or scored.score is None else scored.score
