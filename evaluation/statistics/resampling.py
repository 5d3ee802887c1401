"""The bootstrap over games: whole games are drawn, with all their scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.intervals import FEWEST_FOR_BOOTSTRAP, LEVEL, NO_SPREAD, Interval, no_interval

RESAMPLES = 1000
FEWEST_GAMES = 3
TOO_FEW = "fewer than three games have no interval"
_FEWEST_USABLE = 0.5
_NOISE = 1e-9


def resample_weights(items: int, *, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.float64]:
    """Number of times each item occurs in each bootstrap sample, resamples x items; every row adds up to ``items``.

    The array is shared and must not be written to: a report draws the same thousand samples for every figure.
    """
    return _weights(items, resamples, seed)


@lru_cache(maxsize=8)
def _weights(items: int, resamples: int, seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(items, np.full(items, 1.0 / items), size=resamples).astype(float)
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

    Quantiles that are equal give no interval ("no spread seen"): one without width would claim certainty.
    """
    if items < FEWEST_GAMES:
        return no_interval(TOO_FEW, level)
    values = np.asarray(found, dtype=float)
    usable = values[~np.isnan(values)]
    if len(usable) < _FEWEST_USABLE * len(values):
        return no_interval("not defined in most resamples", level)
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    if high - low <= _NOISE:
        return no_interval(NO_SPREAD, level)
    note = "fewer than 20 games: covers too little" if items < FEWEST_FOR_BOOTSTRAP else ""
    return Interval(float(low), float(high), level, "bootstrap", note)
