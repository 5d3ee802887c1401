"""Prepare samples for all tests: NaN is a missing value and left out, infinity is refused."""

from __future__ import annotations

from collections.abc import Iterable

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
