"""Compare two sets of games on several metrics: differences, and what so few games can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from evaluation.score import AT_CHANCE
from evaluation.statistics.intervals import (
    NO_SPREAD,
    Interval,
    Limits,
    difference_interval,
    has_spread,
    known,
    known_pairs,
    mean_interval,
    no_interval,
)
from evaluation.statistics.significance import (
    LEVEL,
    MOST_FOR_EXACT,
    SignificanceTest,
    games_needed,
    minimum_detectable_difference,
    sign_flip,
    smallest_p,
    welch,
)


@dataclass(frozen=True, slots=True)
class EffectSize:
    """An effect size; NaN with the reason where there is none."""

    value: float
    reason: str = ""


def cohens_d(treatment: Iterable[float], control: Iterable[float]) -> EffectSize:
    """Cohen's d, treatment minus control, over the pooled standard deviation with ddof = 1 (Cohen 1988).

    d = (mean_T - mean_C) / sqrt(((n_T - 1) s_T^2 + (n_C - 1) s_C^2) / (n_T + n_C - 2)). Its sign is that of Welch's t.
    NaN are left out. Fewer than two values on a side, or no spread on either, give NaN with a reason, never 0.
    """
    after, before = known(treatment), known(control)
    if min(len(after), len(before)) < 2:
        return EffectSize(math.nan, "each side needs at least two values")
    if not has_spread(after) and not has_spread(before):
        return EffectSize(math.nan, NO_SPREAD)
    freedom = len(after) + len(before) - 2
    pooled = ((len(after) - 1) * after.var(ddof=1) + (len(before) - 1) * before.var(ddof=1)) / freedom
    return EffectSize(float((after.mean() - before.mean()) / math.sqrt(pooled)))


def holm(p_values: Iterable[float], level: float) -> tuple[list[float], list[float]]:
    """Holm's step-down adjustment (Holm 1979), and the level at which it decided each test.

    Sorted upwards, the i-th of m values is multiplied by m - i + 1, kept at least as large as the one before it and at
    most 1: comparing these with ``level`` keeps the family-wise error there. It is the same to compare the i-th with
    ``level`` / (m - i + 1) until one is larger; all from there on are not rejected, and were decided at the level of
    that first one. So the interval at that level holds 0 for these, and excludes it for those before.

    Args:
        p_values: Two-sided p-values of one family, from 0 to 1. NaN (no test was possible) stay NaN and do not count.
        level: Of the family-wise error.

    Returns:
        Adjusted values and levels, in the order given.
    """
    given = np.asarray(list(p_values), dtype=float)
    places = np.flatnonzero(~np.isnan(given))
    order = places[np.argsort(given[places], kind="stable")]
    ranks = np.arange(len(order), 0, -1)
    adjusted, levels, steps = given.copy(), given.copy(), level / ranks
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * ranks))
    kept = np.flatnonzero(given[order] > steps)
    if len(kept):
        steps[kept[0] :] = steps[kept[0]]
    levels[order] = steps
    return adjusted.tolist(), levels.tolist()


class Outcome(StrEnum):
    """Conclusion on a difference.

    ``at_chance``: the values of the side that seems better are no better than those of scrambled copies.
    ``low_evidence``: the test finds a difference, but what a side's scores rest on is too little to say so.
    ``on_repeats``: it finds none without games that repeat others.
    ``at_equal_length``: the score, which follows the length of the games, differs, but a measure that does not follow
    it could differ by luck.
    ``untestable``: too few games, or no spread on either side.
    """

    BETTER = "better"
    WORSE = "worse"
    AT_CHANCE = AT_CHANCE
    LOW_EVIDENCE = "on low evidence"
    ON_REPEATS = "on repeated games"
    AT_EQUAL_LENGTH = "could be luck at equal length"
    NO_EVIDENCE = "could be luck"
    UNTESTABLE = "cannot be tested"

    @property
    def words(self) -> str:
        """The conclusion in the words of pages and reports: "better beyond luck", "could be luck"."""
        return f"{self} beyond luck" if self.is_beyond_luck else str(self)

    @property
    def is_beyond_luck(self) -> bool:
        """Whether it is a change that the test shows."""
        return self in (Outcome.BETTER, Outcome.WORSE)


DOUBTED = (Outcome.AT_CHANCE, Outcome.LOW_EVIDENCE, Outcome.ON_REPEATS, Outcome.AT_EQUAL_LENGTH)
"""Nothing is concluded, whatever the test finds, and more games as long as these would not do."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric on two sets of games, the higher the better.

    Attributes:
        before: One value per game of the control, NaN where there is none.
        after: One value per game of the treatment.
        pairs: (before, after) of games that share a scenario or seed.
        limits: The ends of the scale.
        unit: What stands behind a value: "%", or nothing.
        apart: Why the two sides do not compare whatever their values are; empty where they do.
        is_low_evidence: Whether the values of a side rest on too little, whatever their spread.
        at_chance: Whether the values before, and those after, are no better than those of scrambled copies.
        waiting: How many of the games before, and of those after, only wait for their value, as for a rating.
        distinct: Before and after without games that repeat others; ``None`` where none does.
        fair: The same property on both sides by a measure that the length of a game does not move, the higher the
            better, NaN for games too short for it; ``None`` where the values themselves are fair or it is not known.
    """

    before: Sequence[float]
    after: Sequence[float]
    pairs: Sequence[tuple[float, float]] = ()
    limits: Limits = None
    unit: str = ""
    apart: str = ""
    is_low_evidence: bool = False
    at_chance: tuple[bool, bool] = (False, False)
    waiting: tuple[int, int] = (0, 0)
    fair: tuple[Sequence[float], Sequence[float]] | None = None
    distinct: tuple[Sequence[float], Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """One side of a comparison; ``mean`` is NaN without a value, ``sd`` (ddof = 1) with fewer than two.

    Besides its ``n`` games with a value it has some ``waiting`` for theirs.
    """

    n: int
    mean: float
    sd: float
    interval: Interval
    values: tuple[float, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Paired:
    """The same compared pair by pair.

    Attributes:
        n: How many pairs have both values.
        difference: Mean of after minus before, NaN without a pair.
        interval: Of that mean.
        sign_flip: The sign-flip test.
        smallest_p: What the exact sign-flip test cannot go below with so many pairs.
    """

    n: int
    difference: float
    interval: Interval
    sign_flip: SignificanceTest
    smallest_p: float

    @property
    def is_exact(self) -> bool:
        """Whether the sign-flip test counts all patterns; of more than 16 pairs it draws some."""
        return self.n <= MOST_FOR_EXACT


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric's difference, after minus before.

    Attributes:
        difference: Of the means; NaN when a side has no value, or the sides do not compare.
        interval: Welch's, at 95 %.
        deciding_interval: Welch's, at the level that decided the outcome: it holds 0 just when that could be luck, or
            cannot be told for another reason. Draw this one beside the outcome.
        is_primary: Whether it was chosen beforehand, and so was tested alone.
        p_holm: Welch's p, adjusted over the other metrics of the comparison; NaN for the primary one.
        paired: ``None`` when no games are paired.
        detectable: What so many games would find in 8 of 10 comparisons, given this spread; NaN when unknown. At 0.05
            for the primary metric; for others at what Holm asks of the smallest p: 0.05 over their number.
        games_needed: On each side, to find a difference as large as the one seen at that level; ``None`` when that has
            no answer, and where more games would not do.
        most: The largest difference that the scale allows; infinite without limits.
    """

    name: str
    unit: str
    before: Summary
    after: Summary
    difference: float
    interval: Interval
    deciding_interval: Interval
    is_primary: bool
    welch: SignificanceTest
    p_holm: float = math.nan
    effect: EffectSize = EffectSize(math.nan)
    paired: Paired | None = None
    detectable: float = math.nan
    games_needed: int | None = None
    outcome: Outcome = Outcome.UNTESTABLE
    most: float = math.inf

    @property
    def p(self) -> float:
        """The p-value that decided the outcome: Welch's for the primary metric, else after Holm's adjustment."""
        return self.welch.p if self.is_primary else self.p_holm

    @property
    def words(self) -> str:
        """The conclusion: "better beyond luck", "could be luck"."""
        return self.outcome.words


Comparison = dict[str, Difference]
"""Every metric of one comparison by its name: the primary one, and the family over which Holm's adjustment runs."""


def compare(measures: Mapping[str, Measure], *, primary: str | None = None) -> Comparison:
    """Each metric's difference with Welch's t-test (two-sided).

    The primary metric is tested alone at ``LEVEL`` (0.05), the others together with Holm's adjustment over those that
    can be tested. The paired figures stand beside it and decide nothing: one test is chosen beforehand, or the error
    would grow.

    Args:
        measures: By name, in the order in which they are shown. NaN and pairs with a NaN are left out.
        primary: The metric that the change was meant to raise, if one was named before the games were played.

    Raises:
        KeyError: ``primary`` is not among the measures.
    """
    tests = {name: _test(measure) for name, measure in measures.items()}
    rules = {name: _Rule(math.nan, LEVEL, LEVEL, False) for name in measures} | _holm_rules(tests, primary)
    if primary is not None:
        rules[primary] = _Rule(tests[primary].p, LEVEL, LEVEL, True)
    return {name: _difference(name, one, tests[name], rules[name]) for name, one in measures.items()}


def _test(measure: Measure) -> SignificanceTest:
    if measure.apart:
        return SignificanceTest("Welch", math.nan, math.nan, reason=measure.apart)
    return welch(measure.after, measure.before)


class _Rule(NamedTuple):
    """Decision rule of one metric: the p that decides, the level of its interval, the level of its power."""

    p: float
    interval_level: float
    power_level: float
    is_primary: bool


def _holm_rules(tests: Mapping[str, SignificanceTest], primary: str | None) -> dict[str, _Rule]:
    family = {name: test.p for name, test in tests.items() if name != primary}
    adjusted, levels = holm(family.values(), LEVEL)
    strictest = LEVEL / max(1, sum(not math.isnan(p) for p in family.values()))
    return {
        name: _Rule(p, interval_level, strictest, False)
        for name, p, interval_level in zip(family, adjusted, levels, strict=True)
    }


def _difference(name: str, measure: Measure, test: SignificanceTest, rule: _Rule) -> Difference:
    before, after = (
        _summary(values, measure.limits, waiting)
        for values, waiting in zip((measure.before, measure.after), measure.waiting, strict=True)
    )
    if measure.apart:
        none = no_interval(measure.apart)
        effect = EffectSize(math.nan, measure.apart)
        return Difference(name, measure.unit, before, after, math.nan, none, none, rule.is_primary, test, effect=effect)
    difference = after.mean - before.mean
    span = _span(measure.limits)
    deciding = LEVEL if math.isnan(rule.interval_level) else rule.interval_level
    plain, decisive = (
        difference_interval(measure.after, measure.before, limits=span, level=1.0 - each) for each in (LEVEL, deciding)
    )
    detectable = minimum_detectable_difference(after.sd, before.sd, after.n, before.n, level=rule.power_level)
    outcome = _outcome(difference, rule.p, measure)
    is_beyond_luck = outcome.is_beyond_luck
    if is_beyond_luck and measure.distinct is not None and not welch(*measure.distinct).p <= deciding:
        outcome = Outcome.ON_REPEATS
    is_in_vain = math.isnan(test.p) or outcome in DOUBTED
    needed = None if is_in_vain else games_needed(difference, after.sd, before.sd, level=rule.power_level)
    return Difference(
        name,
        measure.unit,
        before,
        after,
        difference,
        plain,
        decisive,
        rule.is_primary,
        test,
        math.nan if rule.is_primary else rule.p,
        cohens_d(measure.after, measure.before),
        _paired(measure),
        detectable,
        needed,
        outcome,
        span[1] if span else math.inf,
    )


def _summary(values: Sequence[float], limits: Limits, waiting: int) -> Summary:
    sample = known(values)
    mean = float(sample.mean()) if len(sample) else math.nan
    sd = float(sample.std(ddof=1)) if len(sample) > 1 else math.nan
    return Summary(len(sample), mean, sd, mean_interval(sample, limits=limits), tuple(map(float, sample)), waiting)


def _paired(measure: Measure) -> Paired | None:
    if not measure.pairs:
        return None
    before, after = known_pairs(*zip(*measure.pairs, strict=True))
    differences = after - before
    if not len(differences):
        none = sign_flip((), ())
        return Paired(0, math.nan, no_interval("no pairs"), none, math.nan)
    return Paired(
        len(differences),
        float(differences.mean()),
        mean_interval(differences, limits=_span(measure.limits)),
        sign_flip(after, before),
        smallest_p(len(differences)),
    )


def _span(limits: Limits) -> Limits:
    return None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])


def _outcome(difference: float, p: float, measure: Measure) -> Outcome:
    # The side that seems better, whichever that is: a fall from a level that means something is one, wherever it ends.
    seems_better = measure.at_chance[difference > 0] if difference else all(measure.at_chance)
    if seems_better and not math.isnan(difference):
        return Outcome.AT_CHANCE
    if math.isnan(p):
        return Outcome.UNTESTABLE
    if p > LEVEL:
        return Outcome.NO_EVIDENCE
    if measure.is_low_evidence:
        return Outcome.LOW_EVIDENCE
    if measure.fair is not None:
        before, after = (known(side) for side in measure.fair)
        if min(len(before), len(after)) < 2:
            return Outcome.LOW_EVIDENCE
        if not welch(after, before).p <= LEVEL or (after.mean() > before.mean()) != (difference > 0):
            return Outcome.AT_EQUAL_LENGTH
    return Outcome.BETTER if difference > 0 else Outcome.WORSE
