"""Coefficients of agreement between several people, or a person and a rule, about the same games."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal"]
Numbers = NDArray[np.float64]


def coincidences(counts: Numbers, weights: Numbers | None = None) -> Numbers:
    """The coincidence matrix, values x values: every pair of ratings of an item, weighted by 1 / (ratings - 1).

    Args:
        counts: Items x values.
        weights: Resamples x items, how often each item counts; then there is one matrix per resample.
    """
    given = counts.sum(axis=1)
    pairable = given >= 2
    kept, share = counts[pairable], 1.0 / (given[pairable] - 1.0)
    if weights is None:
        # Never items x values x values: continuous values are as many as ratings.
        return np.asarray((kept * share[:, None]).T @ kept - np.diag(share @ kept))
    each = np.einsum("ic,ik,i->ick", kept, kept, share)
    seats = np.arange(counts.shape[1])
    each[:, seats, seats] -= kept * share[:, None]
    return np.asarray(np.tensordot(weights[:, pairable], each, axes=1))


def alpha_of(matrix: Numbers, values: Numbers, level: Level) -> Numbers:
    """Krippendorff's alpha = 1 - D_o / D_e (Krippendorff 2004, chapter 11) from coincidence matrices.

    1 is perfect agreement, 0 what chance gives, below 0 worse than chance. Items that fewer than two raters rated say
    nothing and are left out.

    Args:
        matrix: From :func:`coincidences`: ... x values x values.
        values: Ascending.
        level: ``nominal`` (equal or not) or ``ordinal`` (by ranks).

    Returns:
        At most 1; NaN when no item has two ratings, or all ratings are equal (no disagreement was possible).
    """
    totals = matrix.sum(axis=-1)
    pairs = totals.sum(axis=-1)
    distance = _distances(totals, values, level)
    observed = (matrix * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1.0 - (pairs - 1.0) * observed / expected, np.nan)


def _distances(totals: Numbers, values: Numbers, level: Level) -> Numbers:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    # The rank of a value: everything below it, and half of those that share it.
    ranks = np.cumsum(totals, axis=-1) - totals / 2.0
    return np.asarray((ranks[..., :, None] - ranks[..., None, :]) ** 2)


def ac1_of(counts: Numbers, categories: int, weights: Numbers | None = None) -> Numbers:
    """Gwet's AC1 = (p_a - p_e) / (1 - p_e) (Gwet 2008) from items x values; with weights one per resample.

    Stands beside nominal alpha because it does not collapse when nearly everybody gives the same answer.

    Args:
        counts: Items x values.
        categories: How many answers there are to choose from.
        weights: Resamples x items, how often each item counts.

    Returns:
        At most 1; NaN when no item has two ratings, or there is one category only.
    """
    given = counts.sum(axis=1)
    rated, pairable = given >= 1, given >= 2
    weight = np.ones((1, len(counts))) if weights is None else weights
    with np.errstate(divide="ignore", invalid="ignore"):
        agreeing = (counts * (counts - 1)).sum(axis=1) / (given * (given - 1))
        shares = counts / given[:, None]
        observed = weight[:, pairable] @ agreeing[pairable] / weight[:, pairable].sum(axis=1)
        prevalence = weight[:, rated] @ shares[rated] / weight[:, rated].sum(axis=1, keepdims=True)
        by_chance = (prevalence * (1.0 - prevalence)).sum(axis=1) / (categories - 1) if categories > 1 else np.nan
        found = (observed - by_chance) / (1.0 - by_chance)
    return np.asarray(found if weights is not None else found[0])


def nominal_kappa_of(cells: Numbers) -> Numbers:
    """Cohen's kappa = (p_o - p_e) / (1 - p_e) (Cohen 1960) of two raters' categories without an order.

    Args:
        cells: How often the first gave the row's category and the second the column's: ... x categories x categories.

    Returns:
        At most 1; NaN where nothing was rated, or both gave one and the same category only.
    """
    total = cells.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(cells, axis1=-2, axis2=-1) / total
        expected = (cells.sum(axis=-1) * cells.sum(axis=-2)).sum(axis=-1) / total**2
        return np.where(expected < 1.0 - _NOISE, (observed - expected) / (1.0 - expected), np.nan)


_NOISE = 1e-9
