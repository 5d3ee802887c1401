"""Effect sizes: differences in standard deviations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.statistics._samples import has_spread, known
from evaluation.statistics.intervals import NO_SPREAD


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
