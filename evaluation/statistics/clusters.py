"""Differences of scores that are not independent, because several come from the same agent."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from evaluation.statistics.intervals import NO_SPREAD
from evaluation.statistics.tests import SignificanceTest


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
