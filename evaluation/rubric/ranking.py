"""Which metric is the lowest: how far each lies from its threshold, measured in widths of its scale."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import Scored


def margin(name: str, metric: Scored | None) -> float | None:
    """(score - threshold) / width of the scale, below zero when it fails; ``None`` without a score.

    A percent and a 1-5 score compare because both are measured in widths.
    """
    if metric is None or metric.score is None:
        return None
    return (metric.score - metric.threshold) / DEFINITIONS[name].scale.width


def lowest_first(metrics: Mapping[str, Scored]) -> list[str]:
    """The metrics that have a score, the smallest margin first, of equal ones the first in the rubric."""
    margins = {name: value for name in DEFINITIONS if (value := margin(name, metrics.get(name))) is not None}
    return sorted(margins, key=margins.__getitem__)


def lowest_metric(metrics: Mapping[str, Scored]) -> str | None:
    """The metric with the smallest margin; ``None`` when none has a score."""
    return next(iter(lowest_first(metrics)), None)
