"""Two sets of games compared on several metrics: how much each differs, and what so few games can say about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from evaluation.statistics.effects import Effect, cohens_d
from evaluation.statistics.intervals import Interval, Limits, difference_interval, mean_interval, no_interval
from evaluation.statistics.multiplicity import holm
from evaluation.statistics.power import LEVEL, games_needed, minimum_detectable_difference
from evaluation.statistics.samples import known, known_pairs
from evaluation.statistics.tests import MOST_FOR_EXACT, SignificanceTest, paired_t, sign_flip, smallest_p, welch


class Outcome(StrEnum):
    """What the games say about a difference. ``untestable``: too few games, or no spread on either side."""

    BETTER = "better"
    WORSE = "worse"
    NO_EVIDENCE = "no evidence either way"
    UNTESTABLE = "cannot be tested"


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric on two sets of games, the higher the better.

    Attributes:
        before: One value per game of the control, NaN where there is none.
        after: One value per game of the treatment.
        pairs: (before, after) of games that share a scenario or seed.
        limits: The ends of the scale.
        unit: What stands behind a value: "%", or nothing.
    """

    before: Sequence[float]
    after: Sequence[float]
    pairs: Sequence[tuple[float, float]] = ()
    limits: Limits = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """One side of a comparison; ``mean`` is NaN without a value, ``sd`` (ddof = 1) with fewer than two."""

    n: int
    mean: float
    sd: float
    interval: Interval
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Paired:
    """The same compared pair by pair.

    Attributes:
        n: How many pairs have both values.
        difference: Mean of after minus before, NaN without a pair.
        interval: Of that mean.
        sign_flip: The sign-flip test.
        t: Student's paired t-test.
        smallest_p: What the exact sign-flip test cannot go below with so many pairs.
    """

    n: int
    difference: float
    interval: Interval
    sign_flip: SignificanceTest
    t: SignificanceTest
    smallest_p: float

    @property
    def is_exact(self) -> bool:
        """Whether the sign-flip test counts all patterns; of more than 16 pairs it draws some."""
        return self.n <= MOST_FOR_EXACT


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric's difference, after minus before.

    Attributes:
        difference: Of the means; NaN when a side has no value.
        interval: Welch's, at 95 %.
        p_holm: Welch's p, adjusted over the metrics of the comparison; it alone decides the outcome.
        paired: ``None`` when no games are paired.
        detectable: What so many games would find in 8 of 10 comparisons, given this spread; NaN when unknown. As every
            metric is tested, at the level that Holm asks of the smallest p: 0.05 over the number of tests.
        games_needed: On each side, to find a difference as large as the one seen at that level; ``None`` when that has
            no answer.
    """

    name: str
    unit: str
    before: Summary
    after: Summary
    difference: float
    interval: Interval
    welch: SignificanceTest
    p_holm: float
    effect: Effect
    paired: Paired | None
    detectable: float
    games_needed: int | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every metric of one comparison: the family over which Holm's adjustment runs."""

    differences: tuple[Difference, ...]
    level: float = LEVEL
    _by_name: Mapping[str, Difference] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, name: str) -> Difference:
        """The difference of that metric; ``KeyError`` when it is not part of the comparison."""
        return self._by_name[name]


def compare(measures: Mapping[str, Measure], *, level: float = LEVEL, seed: int = 0) -> Comparison:
    """Each metric's difference with Welch's t-test (two-sided), adjusted by Holm over those that can be tested.

    The paired figures stand beside it and decide nothing: one test is chosen beforehand, or the error would grow.

    Args:
        measures: By name, in the order in which they are shown. NaN and pairs with a NaN are left out.
        level: Of the family-wise error.
        seed: Of what is drawn (bootstrap, sign flips of more than 16 pairs).
    """
    tests = {name: welch(measure.after, measure.before) for name, measure in measures.items()}
    adjusted = dict(zip(tests, holm(test.p for test in tests.values()), strict=True))
    strictest = level / max(1, sum(not math.isnan(test.p) for test in tests.values()))
    found = [
        _difference(name, measure, tests[name], adjusted[name], (level, strictest), seed)
        for name, measure in measures.items()
    ]
    return Comparison(tuple(found), level, {one.name: one for one in found})


def _difference(
    name: str, measure: Measure, test: SignificanceTest, p_holm: float, levels: tuple[float, float], seed: int
) -> Difference:
    level, strictest = levels
    before, after = (_summary(values, measure.limits, seed) for values in (measure.before, measure.after))
    difference = after.mean - before.mean
    interval = difference_interval(measure.after, measure.before, limits=_span(measure.limits))
    detectable = minimum_detectable_difference(after.sd, before.sd, after.n, before.n, level=strictest)
    needed = None if math.isnan(test.p) else games_needed(difference, after.sd, before.sd, level=strictest)
    return Difference(
        name,
        measure.unit,
        before,
        after,
        difference,
        interval,
        test,
        p_holm,
        cohens_d(measure.after, measure.before),
        _paired(measure, seed),
        detectable,
        needed,
        _outcome(difference, p_holm, level),
    )


def _summary(values: Sequence[float], limits: Limits, seed: int) -> Summary:
    sample = known(values)
    mean = float(sample.mean()) if len(sample) else math.nan
    sd = float(sample.std(ddof=1)) if len(sample) > 1 else math.nan
    return Summary(len(sample), mean, sd, mean_interval(sample, limits=limits, seed=seed), tuple(map(float, sample)))


def _paired(measure: Measure, seed: int) -> Paired | None:
    if not measure.pairs:
        return None
    before, after = known_pairs(*zip(*measure.pairs, strict=True))
    differences = after - before
    if not len(differences):
        none = sign_flip((), ())
        return Paired(0, math.nan, no_interval("no pairs"), none, paired_t((), ()), math.nan)
    return Paired(
        len(differences),
        float(differences.mean()),
        mean_interval(differences, limits=_span(measure.limits), seed=seed),
        sign_flip(after, before, seed=seed),
        paired_t(after, before),
        smallest_p(len(differences)),
    )


def _span(limits: Limits) -> Limits:
    return None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])


def _outcome(difference: float, p_holm: float, level: float) -> Outcome:
    if math.isnan(p_holm):
        return Outcome.UNTESTABLE
    if p_holm > level:
        return Outcome.NO_EVIDENCE
    return Outcome.BETTER if difference > 0 else Outcome.WORSE
