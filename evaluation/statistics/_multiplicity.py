"""Correct p-values for several tests at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979): comparing these with 0.05 keeps the family-wise error at 5 %.

    Sorted upwards, the i-th of m values is multiplied by m - i + 1, kept at least as large as the one before it and at
    most 1. NaN (no test was possible) stay NaN and do not count towards m.

    Args:
        p_values: Two-sided p-values of one family, from 0 to 1.

    Returns:
        As many, in the order given.

    Raises:
        ValueError: One is below 0 or above 1.
    """
    given = np.asarray(list(p_values), dtype=float)
    places = np.flatnonzero(~np.isnan(given))
    if ((given[places] < 0) | (given[places] > 1)).any():
        raise ValueError("a p-value lies outside 0 to 1")
    order = places[np.argsort(given[places], kind="stable")]
    adjusted = given.copy()
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * np.arange(len(order), 0, -1)))
    return [float(value) for value in adjusted]


def holm_levels(p_values: Iterable[float], level: float) -> list[float]:
    """The level at which Holm's procedure decided each test, so that an interval at it agrees with the decision.

    The i-th smallest of m values is compared with ``level`` / (m - i + 1) until one is larger; all from there on are
    not rejected, and were decided at the level of that first one. So the interval at that level holds 0 for these,
    and excludes it for those before. NaN stay NaN.

    Args:
        p_values: Two-sided p-values of one family, from 0 to 1.
        level: Of the family-wise error.
    """
    given = np.asarray(list(p_values), dtype=float)
    places = np.flatnonzero(~np.isnan(given))
    order = places[np.argsort(given[places], kind="stable")]
    steps = level / np.arange(len(order), 0, -1)
    kept = np.flatnonzero(given[order] > steps)
    if len(kept):
        steps[kept[0] :] = steps[kept[0]]
    levels = given.copy()
    levels[order] = steps
    return [float(value) for value in levels]
