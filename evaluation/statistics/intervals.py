"""Intervals for means, differences and proportions. Two-sided; the level is 0.95 unless told otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_RELATIVE_NOISE = 1e-12


def known(values: Iterable[float]) -> Values:
    """The values that are there, as an array.

    Raises:
        ValueError: One is infinite.
    """
    array: Values = np.asarray(list(values), dtype=float)
    if np.isinf(array).any():
        raise ValueError("a value is infinite")
    return np.asarray(array[~np.isnan(array)])


def known_pairs(first: Iterable[float], second: Iterable[float]) -> tuple[Values, Values]:
    """The pairs of which both values are there.

    Raises:
        ValueError: The two have different lengths, or a value is infinite.
    """
    x, y = np.asarray(list(first), dtype=float), np.asarray(list(second), dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} values cannot be paired with {len(y)}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("a value is infinite")
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both], y[both]


def has_spread(values: Values) -> bool:
    """Whether the values differ by more than the noise of floating-point arithmetic (0.1 + 0.2 is not 0.3)."""
    return len(values) > 1 and float(np.ptp(values)) > _RELATIVE_NOISE * max(1.0, float(np.abs(values).max()))


LEVEL = 0.95
FEWEST_FOR_BOOTSTRAP = 20
"""From so many values on BCa is used. Below it covers too little: 68 % at 3 values, 85 % at 6."""

NO_SPREAD = "no spread seen"
ALL_EQUAL = "none, all values equal"
_RESAMPLES = 2000
_MOST_CELLS = 2_000_000

Limits = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, or the reason why there is none.

    Attributes:
        low: Lower end, ``None`` without an interval.
        high: Upper end, ``None`` without an interval.
        method: ``t``, ``BCa``, ``Welch``, ``Wilson``, ``bootstrap``, or empty.
        note: Why there is none ("none, all values equal", "one value"), or what to bear in mind; else empty.
    """

    low: float | None
    high: float | None
    level: float = LEVEL
    method: str = ""
    note: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is an interval at all."""
        return self.low is not None and self.high is not None


def no_interval(note: str, level: float = LEVEL) -> Interval:
    """The absence of an interval, with its reason."""
    return Interval(None, None, level, "", note)


def mean_interval(values: Iterable[float], *, limits: Limits = None, level: float = LEVEL, seed: int = 0) -> Interval:
    """The interval of the mean over games, NaN left out.

    Student's t below 20 values, the bias-corrected and accelerated bootstrap (Efron 1987; ``scipy.stats.bootstrap``,
    2,000 resamples) from 20 on. A bootstrap is too narrow for small samples: it takes the spread with ddof = 0 and the
    normal for t. So BCa runs at the level that makes up for both (Hesterberg 2015, expanded percentiles); at 20 values
    of a normal it then covers about 95 % instead of 92 %.

    Args:
        values: One per game: a game is the unit of sampling, not a message.
        limits: The ends of the scale, to which the interval is clipped.
        level: Nominal coverage.
        seed: Of the bootstrap; the same seed gives the same interval.

    Returns:
        No interval for fewer than two values, and for equal ones (``ALL_EQUAL``: that they will never differ is not
        what so few games show).
    """
    sample = known(values)
    if len(sample) < 2:
        return no_interval("one value has no interval" if len(sample) else "no values", level)
    if not has_spread(sample):
        return no_interval(ALL_EQUAL, level)
    if len(sample) >= FEWEST_FOR_BOOTSTRAP:
        low, high = _drawn(sample.tobytes(), level, seed)
        if not math.isnan(low) and not math.isnan(high):
            return _clipped(low, high, limits, level, "BCa")
    from scipy.special import stdtrit  # a tenth of what scipy.stats takes to import

    half = float(stdtrit(len(sample) - 1, 0.5 + level / 2.0) * sample.std(ddof=1)) / math.sqrt(len(sample))
    mean = float(sample.mean())
    return _clipped(mean - half, mean + half, limits, level, "t")


def difference_interval(
    treatment: Iterable[float], control: Iterable[float], *, limits: Limits = None, level: float = LEVEL
) -> Interval:
    """The interval of the difference of two means, treatment minus control (Welch 1947), NaN left out.

    Args:
        treatment: One value per game.
        control: One value per game; the two groups are independent.
        limits: The largest differences that the scale allows.
        level: Nominal coverage.

    Returns:
        No interval when a side has fewer than two values, or neither has any spread.
    """
    after, before = known(treatment), known(control)
    if min(len(after), len(before)) < 2:
        return no_interval("each side needs at least two values", level)
    if not has_spread(after) and not has_spread(before):
        return no_interval(ALL_EQUAL, level)
    from scipy.special import stdtrit  # a tenth of what scipy.stats takes to import

    error, freedom = welch_error(after.var(ddof=1), len(after), before.var(ddof=1), len(before))
    difference = float(after.mean() - before.mean())
    half = float(stdtrit(freedom, 0.5 + level / 2.0)) * error
    return _clipped(difference - half, difference + half, limits, level, "Welch")


def welch_error(after: float, n_after: int, before: float, n_before: int) -> tuple[float, float]:
    """Standard error of the difference of two means, and Welch's degrees of freedom, from variances and counts.

    One side must have spread. Not ``scipy.stats.ttest_ind``: it warns when one side has none, which is not a fault of
    the games.
    """
    parts = after / n_after, before / n_before
    total = float(sum(parts))
    shares = parts[0] / total, parts[1] / total
    return math.sqrt(total), float(1.0 / (shares[0] ** 2 / (n_after - 1) + shares[1] ** 2 / (n_before - 1)))


def proportion_interval(successes: int, trials: int, *, level: float = LEVEL, is_within_game: bool = False) -> Interval:
    """Wilson's interval for a single proportion, both ends from 0 to 1 (Wilson 1927; ``scipy.stats.binomtest``).

    Args:
        successes: How many of the trials.
        trials: None gives no interval.
        level: Nominal coverage.
        is_within_game: The trials are messages of one game. They are not independent of each other, so the interval
            says nothing about other games, and is marked so.

    Raises:
        ValueError: More successes than trials, or fewer than none.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not trials:
        return no_interval("no values", level)
    from scipy.stats import binomtest  # slow to import

    found = binomtest(successes, trials).proportion_ci(confidence_level=level, method="wilson")
    note = "over the messages of one game, not over games" if is_within_game else ""
    return Interval(float(found.low), float(found.high), level, "Wilson", note)


def expanded_level(level: float, values: int) -> float:
    """The level at which a bootstrap of so many values covers ``level`` (Hesterberg 2015): 0.968 at 20 values."""
    from scipy.special import ndtr, stdtrit  # a tenth of what scipy.stats takes to import

    quantile = math.sqrt(values / (values - 1)) * stdtrit(values - 1, 0.5 + level / 2.0)
    return float(2.0 * ndtr(quantile) - 1.0)


# Pages ask for the same games' interval again whenever other games come in, and drawing it takes milliseconds.
@lru_cache(maxsize=1024)
def _drawn(packed: bytes, level: float, seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    sample = np.frombuffer(packed, dtype=np.float64)
    found = bootstrap(
        (sample,),
        np.mean,
        n_resamples=_RESAMPLES,
        batch=max(1, _MOST_CELLS // len(sample)),
        vectorized=True,
        confidence_level=expanded_level(level, len(sample)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def _clipped(low: float, high: float, limits: Limits, level: float, method: str) -> Interval:
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return Interval(low, high, level, method)


RESAMPLES = 1000
FEWEST_GAMES = 3
TOO_FEW = "fewer than three games have no interval"
_FEWEST_USABLE = 0.5
_NOISE = 1e-9


@lru_cache(maxsize=8)
def resample_weights(items: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Number of times each item occurs in each bootstrap sample, resamples x items; every row adds up to ``items``.

    The array is shared and must not be written to: a report draws the same thousand samples for every figure.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(items, np.full(items, 1.0 / items), size=RESAMPLES).astype(float)
    drawn.setflags(write=False)
    return drawn


def bootstrap_interval(
    statistic: Callable[[NDArray[np.float64]], Any], items: int, *, level: float = LEVEL, seed: int = 0
) -> Interval:
    """The percentile bootstrap interval over games (Efron and Tibshirani 1993), 1,000 resamples, two-sided.

    Resamples on which the statistic is not defined (all values equal) are left out; when that is more than half of
    them there is no interval, nor when the rest are all equal: that raters who never differed never will is not what
    some games show. With few games it covers too little, as every bootstrap does.

    Args:
        statistic: Takes weights (resamples x items) and returns one number per resample, NaN where not defined.
        items: How many games; fewer than three have no interval.
        level: Nominal coverage.
        seed: The same seed gives the same interval.
    """
    if items < FEWEST_GAMES:
        return no_interval(TOO_FEW, level)
    return percentile_interval(statistic(resample_weights(items, seed=seed)), items, level=level)


def percentile_interval(found: Any, items: int, *, level: float = LEVEL) -> Interval:
    """The interval between the quantiles of a statistic over resamples of ``items`` games, NaN left out.

    Quantiles that are equal give no interval ("none, all values equal"): one without width would claim certainty.
    """
    if items < FEWEST_GAMES:
        return no_interval(TOO_FEW, level)
    values = np.asarray(found, dtype=float)
    usable = values[~np.isnan(values)]
    if len(usable) < _FEWEST_USABLE * len(values):
        return no_interval("not defined in most resamples", level)
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    if high - low <= _NOISE:
        return no_interval(ALL_EQUAL, level)
    note = "fewer than 20 games: covers too little" if items < FEWEST_FOR_BOOTSTRAP else ""
    return Interval(float(low), float(high), level, "bootstrap", note)
