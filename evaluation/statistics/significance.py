"""Tests of a difference between two sets of games, and their power. A sign above zero means treatment is higher."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.statistics.intervals import NO_SPREAD, Values, has_spread, known, known_pairs, welch_error

MOST_FOR_EXACT = 16
"""Up to so many pairs all sign patterns are counted (65,536); beyond, as many are drawn."""


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """Result of a test.

    Attributes:
        name: Which test.
        statistic: Its statistic, NaN without a result. For t it has the sign of the difference.
        p: Two-sided p-value, NaN without a result.
        freedom: Degrees of freedom, ``None`` where the test has none.
        reason: Why there is no result; else empty.
    """

    name: str
    statistic: float
    p: float
    freedom: float | None = None
    reason: str = ""


def welch(treatment: Iterable[float], control: Iterable[float]) -> SignificanceTest:
    """Welch's t-test of two independent groups with unequal variances, treatment minus control (Welch 1947).

    NaN are left out. Without two values on each side, or without spread on either, there is no result: NaN, with the
    reason. Checked against ``scipy.stats.ttest_ind(equal_var=False)``.
    """
    after, before = known(treatment), known(control)
    if min(len(after), len(before)) < 2:
        return _none("Welch", "each side needs at least two values")
    if not has_spread(after) and not has_spread(before):
        return _none("Welch", NO_SPREAD)
    from scipy.special import stdtr  # a tenth of what scipy.stats takes to import

    error, freedom = welch_error(after.var(ddof=1), len(after), before.var(ddof=1), len(before))
    t = float(after.mean() - before.mean()) / error
    return SignificanceTest("Welch", t, float(2.0 * stdtr(freedom, -abs(t))), freedom)


def sign_flip(treatment: Iterable[float], control: Iterable[float], *, seed: int = 0) -> SignificanceTest:
    """The sign-flip test of paired differences (Fisher 1935; ``scipy.stats.permutation_test``, samples).

    Exact up to 16 pairs: the share of all 2^n sign patterns whose mean difference is at least as far from zero. So p
    cannot be below 2 / 2^n, see :func:`smallest_p`. Beyond, 65,536 patterns are drawn with ``seed``. Pairs with a NaN
    are left out; without any pair there is no result. Differences that are all zero give p = 1.
    """
    after, before = known_pairs(treatment, control)
    differences = after - before
    if not len(differences):
        return _none("sign flip", "no pairs")
    if len(differences) == 1 or not np.abs(differences).max() > 0:
        # Both signs of a single difference are as far from zero.
        return SignificanceTest("sign flip", float(differences.mean()), 1.0)
    from scipy.stats import permutation_test  # slow to import

    found = permutation_test(
        (differences,),
        _mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**MOST_FOR_EXACT,
        batch=4096,
        rng=np.random.default_rng(seed),
    )
    return SignificanceTest("sign flip", float(differences.mean()), float(found.pvalue))


def smallest_p(pairs: int) -> float:
    """The smallest p-value that the exact sign-flip test can give: 2 / 2^pairs. With 3 pairs it is 0.25."""
    return min(1.0, 2.0 ** (1 - pairs)) if pairs > 0 else math.nan


def _mean(differences: Values, axis: int) -> Values:
    return np.asarray(np.mean(differences, axis=axis), dtype=float)


def _none(name: str, reason: str) -> SignificanceTest:
    return SignificanceTest(name, math.nan, math.nan, None, reason)


def clustered_difference(
    treatment: Sequence[float],
    control: Sequence[float],
    treatment_clusters: Sequence[Hashable],
    control_clusters: Sequence[Hashable],
) -> SignificanceTest:
    """The difference of two means with a cluster-robust standard error, two-sided, t with clusters - 1 degrees.

    The sandwich estimator of Liang and Zeger (1986) with the usual factor G / (G - 1) x (N - 1) / (N - 2). An agent may
    have scores on both sides (the same persona in treatment and control): it is one cluster. Checked against
    ``statsmodels`` (OLS, ``cov_type="cluster"``).

    Args:
        treatment: One score per agent and session; NaN are left out with their cluster.
        control: The same.
        treatment_clusters: Whose each score is.
        control_clusters: Whose each score is.

    Returns:
        No result (NaN, with the reason) for fewer than two clusters, an empty side or scores without spread.

    Raises:
        ValueError: Scores and clusters are not as many.
    """
    if len(treatment) != len(treatment_clusters) or len(control) != len(control_clusters):
        raise ValueError("every score needs its cluster")
    scores = np.asarray([*treatment, *control], dtype=float)
    side = np.repeat([1.0, 0.0], [len(treatment), len(control)])
    seats = {cluster: seat for seat, cluster in enumerate(dict.fromkeys([*treatment_clusters, *control_clusters]))}
    owner = np.asarray([seats[cluster] for cluster in [*treatment_clusters, *control_clusters]], dtype=int)
    there = ~np.isnan(scores)
    scores, side, owner = scores[there], side[there], owner[there]
    count, sides = len(np.unique(owner)), (float(side.sum()), float(len(side) - side.sum()))
    if count < 2 or min(sides) < 1 or len(scores) < 3:
        return SignificanceTest(
            "cluster-robust", math.nan, math.nan, None, "at least two clusters and two sides needed"
        )
    means = scores[side == 1].mean(), scores[side == 0].mean()
    residuals = scores - np.where(side == 1, means[0], means[1])
    # What each cluster pulls the difference by: its residuals, weighted as the means weigh them.
    pull = np.bincount(owner, residuals * np.where(side == 1, 1.0 / sides[0], -1.0 / sides[1]), minlength=len(seats))
    variance = float((pull**2).sum()) * count / (count - 1) * (len(scores) - 1) / (len(scores) - 2)
    if not variance > 0:
        return SignificanceTest("cluster-robust", math.nan, math.nan, None, NO_SPREAD)
    from scipy.special import stdtr

    t = float(means[0] - means[1]) / math.sqrt(variance)
    return SignificanceTest("cluster-robust", t, float(2.0 * stdtr(count - 1, -abs(t))), count - 1)


LEVEL = 0.05
POWER = 0.8
MOST_GAMES = 100_000


def minimum_detectable_difference(
    sd_treatment: float,
    sd_control: float,
    n_treatment: int,
    n_control: int,
    *,
    level: float = LEVEL,
) -> float:
    """The true difference of means that Welch's test would find with a probability of 0.8, on the scores' scale.

    Checked against ``statsmodels.stats.power.TTestIndPower`` where sizes and deviations are equal.

    Args:
        sd_treatment: Standard deviation (ddof = 1).
        sd_control: Standard deviation (ddof = 1).
        n_treatment: Games.
        n_control: Games.
        level: Of the two-sided test.

    Returns:
        NaN when a side has fewer than two games, a deviation is NaN, or neither group has any spread.
    """
    if min(n_treatment, n_control) < 2 or not sd_treatment + sd_control > 0:
        return math.nan
    from scipy.special import nctdtrinc, stdtrit  # a tenth of what scipy.stats takes to import

    error, freedom = welch_error(sd_treatment**2, n_treatment, sd_control**2, n_control)
    # The shift at which a two-sided test has that power. The far tail adds nothing where power matters.
    return error * float(nctdtrinc(freedom, 1.0 - POWER, stdtrit(freedom, 1.0 - level / 2.0)))


def games_needed(difference: float, sd_treatment: float, sd_control: float, *, level: float = LEVEL) -> int | None:
    """Number of games on each side that Welch's test needs to find ``difference`` with a probability of 0.8.

    Args:
        difference: The true difference to be found, on the scores' scale; its sign does not matter.
        sd_treatment: Standard deviation (ddof = 1).
        sd_control: Standard deviation (ddof = 1).
        level: Of the two-sided test.

    Returns:
        At least 2; ``None`` when there is no difference, no spread, or more than 100,000 would be needed.
    """
    if not abs(difference) > 0 or not sd_treatment + sd_control > 0:
        return None

    def shows(games: int) -> bool:
        found = minimum_detectable_difference(sd_treatment, sd_control, games, games, level=level)
        return found <= abs(difference)

    enough = bisect_left(range(MOST_GAMES + 1), True, lo=2, key=shows)
    return enough if enough <= MOST_GAMES else None
