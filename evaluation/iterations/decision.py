"""Keep or revert: did the one change that an iteration made help, measured against the baseline?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.iterations.tests import TEST_SIZE, MetricMean
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.ranking import lowest_metric
from evaluation.rubric.wording import counted, listed, score_words
from evaluation.score import Status

_SMALLEST_CHANGE = 1e-9


class Choice(StrEnum):
    """What to do with the change."""

    KEEP = "keep"
    REVERT = "revert"
    UNDECIDED = "cannot decide yet"


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric's mean in the baseline and in the iteration compared with it; both have a score."""

    metric: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """After minus before, on the metric's scale; above zero is better."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Decision:
    """Keep or revert, with what speaks for it.

    Attributes:
        target: The metric that decides; ``None`` when none was named and the baseline has no score.
        change: The target's change; ``None`` when it has no score on one of the sides.
        passed_before: How many metrics pass in the baseline, by their means.
        passed_after: The same in the iteration.
        fell: The other metrics whose mean is lower than in the baseline, the largest fall first.
        evidence: In words: what decided, what fell, and how many games it rests on.
    """

    choice: Choice
    target: str | None
    change: MetricChange | None
    passed_before: int
    passed_after: int
    fell: tuple[MetricChange, ...]
    evidence: tuple[str, ...]


def decide(
    candidate: Mapping[str, MetricMean], baseline: Mapping[str, MetricMean], target: str | None = None
) -> Decision:
    """Whether to keep the candidate's change (rubric 1.0, iteration cycle).

    Keep when the target's mean is above the baseline's and no fewer metrics pass; else revert, also on a tie. It
    cannot be decided yet when the target has no score on one of the sides, or when the target rose and fewer metrics
    pass only because some still wait for a rating or a judge.

    Args:
        candidate: The iteration's means, over all its games.
        baseline: The baseline's means.
        target: The metric that the change was meant to raise; the baseline's lowest when none was named.
    """
    aim = target or lowest_metric(baseline)
    change = _change(aim, candidate, baseline) if aim else None
    passed_before, passed_after = _passed(baseline), _passed(candidate)
    choice = _choose(change, candidate, passed_before, passed_after)
    fell = tuple(sorted(_falls(aim, candidate, baseline), key=_relative_difference))
    evidence = tuple(_evidence(aim, change, candidate, baseline, fell))
    return Decision(choice, aim, change, passed_before, passed_after, fell, evidence)


def _choose(
    change: MetricChange | None, candidate: Mapping[str, MetricMean], passed_before: int, passed_after: int
) -> Choice:
    if change is None:
        return Choice.UNDECIDED
    if change.difference <= _SMALLEST_CHANGE:
        return Choice.REVERT
    if passed_after >= passed_before:
        return Choice.KEEP
    pending = sum(mean.status is Status.PENDING for mean in candidate.values())
    return Choice.UNDECIDED if passed_after + pending >= passed_before else Choice.REVERT


def _passed(means: Mapping[str, MetricMean]) -> int:
    return sum(mean.status is Status.PASSED for mean in means.values())


def _change(name: str, candidate: Mapping[str, MetricMean], baseline: Mapping[str, MetricMean]) -> MetricChange | None:
    before, after = baseline[name].score, candidate[name].score
    return None if before is None or after is None else MetricChange(name, before, after)


def _falls(
    target: str | None, candidate: Mapping[str, MetricMean], baseline: Mapping[str, MetricMean]
) -> Iterator[MetricChange]:
    for name in DEFINITIONS:
        change = _change(name, candidate, baseline) if name != target else None
        if change is not None and change.difference < -_SMALLEST_CHANGE:
            yield change


def _relative_difference(change: MetricChange) -> float:
    return change.difference / DEFINITIONS[change.metric].scale.width


def _evidence(
    target: str | None,
    change: MetricChange | None,
    candidate: Mapping[str, MetricMean],
    baseline: Mapping[str, MetricMean],
    fell: tuple[MetricChange, ...],
) -> Iterator[str]:
    if target is None:
        yield "The baseline has no score, so there is nothing to compare with."
        return
    yield _change_words(change) if change else _missing_words(target, candidate, baseline)
    yield f"{counted(_passed(baseline), 'metric')} passed before, {_passed(candidate)} now."
    if fell:
        yield f"Lower than before: {listed([_fall_words(one) for one in fell])}."
    waiting = [DEFINITIONS[name].label for name, mean in candidate.items() if mean.status is Status.PENDING]
    if waiting:
        yield f"Still open: {listed(waiting)}."
    yield from _partial_words(candidate)
    games_after, games_before = candidate[target].games, baseline[target].games
    if min(games_after, games_before) < TEST_SIZE:
        yield f"{counted(games_after, 'game')} against {games_before}: fewer than {TEST_SIZE} are too few to rely on."


def _partial_words(means: Mapping[str, MetricMean]) -> Iterator[str]:
    for name, mean in means.items():
        if mean.waiting and mean.values:
            known = f"{len(mean.values)} of {counted(mean.games, 'game')}"
            yield f"{DEFINITIONS[name].label} rests on {known}; the others are pending."


def _change_words(change: MetricChange) -> str:
    definition = DEFINITIONS[change.metric]
    if abs(change.difference) <= _SMALLEST_CHANGE:
        return f"{definition.label}, the target, stayed at {score_words(definition, change.before)}."
    verb = "rose" if change.difference > 0 else "fell"
    digits = _digits_that_differ(change)
    before, after = (score_words(definition, value, digits) for value in (change.before, change.after))
    return f"{definition.label}, the target, {verb} from {before} to {after}."


def _fall_words(change: MetricChange) -> str:
    definition = DEFINITIONS[change.metric]
    digits = _digits_that_differ(change)
    before, after = (score_words(definition, value, digits) for value in (change.before, change.after))
    return f"{definition.label} ({before} to {after})"


def _digits_that_differ(change: MetricChange) -> int:
    return next((digits for digits in range(1, 9) if round(change.before, digits) != round(change.after, digits)), 9)


def _missing_words(target: str, candidate: Mapping[str, MetricMean], baseline: Mapping[str, MetricMean]) -> str:
    sides = {"the baseline": baseline[target], "this iteration": candidate[target]}
    where = listed([side for side, mean in sides.items() if mean.score is None])
    return f"{DEFINITIONS[target].label}, the target, has no score in {where}."
