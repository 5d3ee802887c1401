"""Find the lowest metric: the largest relative shortfall of those that fail, else the least headroom."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import Scored
from evaluation.score import Status


def shortfall(name: str, metric: Scored) -> float:
    """(threshold - score) / (threshold - lowest possible score), from 0 to 1, of a metric that has a score.

    Relative, because thresholds differ: 45 of 90 lacks half of what is needed, as 30 of 60 does. A metric that fails
    for another reason than its score lacks 0.
    """
    assert metric.score is not None
    room = metric.threshold - DEFINITIONS[name].scale.low
    return max(0.0, metric.threshold - metric.score) / room if room > 0 else 0.0


def headroom(name: str, metric: Scored) -> float:
    """(score - threshold) / (highest possible score - threshold), from 0 to 1, of a metric that passes.

    A metric with a threshold of 90 can lie 10 points above it at most, so points would always call it the lowest.
    """
    assert metric.score is not None
    room = DEFINITIONS[name].scale.high - metric.threshold
    return max(0.0, metric.score - metric.threshold) / room if room > 0 else 0.0


def failing_first(metrics: Mapping[str, Scored]) -> list[str]:
    """The metrics that fail, the largest shortfall first, of equal ones the first in the rubric."""
    failing = [name for name in DEFINITIONS if _has(metrics, name, Status.FAILED)]
    return sorted(failing, key=lambda name: -shortfall(name, metrics[name]))


def closest_passing(metrics: Mapping[str, Scored]) -> str | None:
    """The metric with the least headroom of those that pass; ``None`` when none passes."""
    passing = [name for name in DEFINITIONS if _has(metrics, name, Status.PASSED)]
    return min(passing, key=lambda name: headroom(name, metrics[name]), default=None)


def lowest_metric(metrics: Mapping[str, Scored]) -> str | None:
    """The failing metric with the largest shortfall, else the passing one with the least headroom; ``None`` without."""
    return next(iter(failing_first(metrics)), None) or closest_passing(metrics)


def _has(metrics: Mapping[str, Scored], name: str, status: Status) -> bool:
    metric = metrics.get(name)
    return metric is not None and metric.score is not None and metric.status is status
