"""Two iterations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.comparison.movers import Mover
from evaluation.coverage import Coverage, added_coverage
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.evidence import measure_games
from evaluation.iterations.keep_or_revert import Decision, IterationSide
from evaluation.iterations.tests import score_controls
from evaluation.rubric.controls import ControlSummary
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import metric_coverage
from evaluation.statistics.comparison import Comparison, compare

NO_COMPARISON = "no comparison with chance"
"""What stands for a side of which the controls say nothing."""


@dataclass(frozen=True, slots=True)
class IterationComparison:
    """The changes from one iteration to another.

    Attributes:
        comparison: Every metric's difference, in the rubric's order. The target of the later one's change is the
            primary one where it was named; the others are adjusted together.
        decision: Keep or revert of the one that is decided against the other, else of the later of the two against
            *its* reference; ``None`` when it has none.
        other_pair: Says so when that reference is not the other one of the two; else empty.
        decision_words: What stands beside the decision, see :meth:`~evaluation.iterations.board.Board.decision_words`.
        pairs: Ids of games that share a scenario or seed.
        movers: What moved the scores most, the largest first.
    """

    before: IterationSide
    after: IterationSide
    comparison: Comparison
    decision: Decision | None
    other_pair: str
    decision_words: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    movers: tuple[Mover, ...]

    @property
    def coverage_words(self) -> tuple[str, ...]:
        """The coverage of scores that leave rows out: "Memory accuracy rests on 22 of 51 references settled ..."."""
        found = []
        for name, definition in DEFINITIONS.items():
            sides = [_coverage(side, name) for side in (self.before, self.after)]
            if any(sides):
                before, after = (one.words if one else "nothing" for one in sides)
                found.append(f"{definition.label} rests on {before} before; {after} after.")
        return tuple(found)

    @property
    def controls(self) -> dict[str, tuple[ControlSummary, ControlSummary]]:
        """The controls of every metric, before and after."""
        return {name: (_controls(self.before, name), _controls(self.after, name)) for name in DEFINITIONS}

    @property
    def control_words(self) -> tuple[str, ...]:
        """Whether scores differ from chance, one sentence for each metric that has controls."""
        found = []
        for name, sides in self.controls.items():
            if any(side.words for side in sides):
                before, after = (side.words or NO_COMPARISON for side in sides)
                found.append(f"{DEFINITIONS[name].label}: {before} before; {after} after.")
        return tuple(found)


def _controls(side: IterationSide, name: str) -> ControlSummary:
    return score_controls(game.metrics.get(name) for game in side.games)


def _coverage(side: IterationSide, name: str) -> Coverage | None:
    scored = (game.metrics.get(name) for game in side.games)
    return added_coverage(metric_coverage(one) for one in scored if one is not None)


def _later(one: IterationSummary, other: IterationSummary) -> IterationSummary:
    """The one that is decided against the other, else the one that stands later."""
    for subject, against in ((one, other), (other, one)):
        if subject.decision is not None and subject.decision.reference == against.iteration.name:
            return subject
    return max(one, other, key=lambda summary: summary.iteration.position)


def compare_iterations(
    board: Board,
    before: str,
    after: str,
    pairs: Sequence[tuple[str, str]] = (),
    movers: Sequence[Mover] = (),
    *,
    seed: int = 0,
) -> IterationComparison:
    """Compares two iterations of a board; a game is the unit of sampling.

    Args:
        board: Both are on it; the decision is the board's.
        before: Name of the control.
        after: Name of the treatment.
        pairs: Ids of games that share a scenario or seed, before and after.
        movers: What moved the scores, see :func:`~evaluation.comparison.movers.biggest_movers`.
        seed: Of what is drawn for the intervals.
    """
    control, treatment = board[before], board[after]
    first, second = (IterationSide(one.iteration, one.games) for one in (control, treatment))
    later = _later(control, treatment)
    measures = {name: measure_games(name, first.games, second.games, pairs) for name in DEFINITIONS}
    comparison = compare(measures, primary=later.iteration.target_metric, seed=seed)
    decision = later.decision
    if decision is None:
        return IterationComparison(first, second, comparison, None, "", (), tuple(pairs), tuple(movers))
    later_name = later.iteration.name
    is_this_pair = (before, after) == (decision.reference, later_name)
    other = "" if is_this_pair else f"It is about {later_name} against its reference, {decision.reference}."
    words = board.decision_words(later_name)
    return IterationComparison(first, second, comparison, decision, other, words, tuple(pairs), tuple(movers))
