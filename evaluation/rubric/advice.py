"""Advice on the next change: the rubric's troubleshooting actions for what fails, the lowest metric first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.files.bundled import parse_yaml
from evaluation.rubric.definitions import DEFINITIONS, failure_words, score_words, weak_side_words
from evaluation.rubric.verdict import COST_LIMIT_USD, Scored
from evaluation.score import PERCENT, MetricResult, Status, failure_beyond_score
from evaluation.text.display import dollars, telling_digits


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


COST = "cost"
_FILE = Path(__file__).with_name("advice.yaml")


@dataclass(frozen=True, slots=True)
class Advice:
    """Actions to try for one metric, or for the cost.

    Attributes:
        about: The metric's name, or ``cost``.
        finding: Why it is mentioned, in words: "76.0 %, below the threshold of 80 %".
        actions: One change each; the rubric asks for one at a time.
    """

    about: str
    label: str
    finding: str
    actions: tuple[str, ...]


def advise(metrics: Mapping[str, Scored], total_usd: float | None = None) -> tuple[Advice, ...]:
    """Advice on a transcript, a test or an iteration: on what fails, the lowest first. Empty when nothing does.

    A cost above 3.00 USD comes before all else.

    Args:
        metrics: By name, with the thresholds to judge by.
        total_usd: What it cost in US dollars; ``None`` when unknown.
    """
    advice = [_on_metric(name, metrics[name]) for name in failing_first(metrics)]
    if total_usd is not None and total_usd > COST_LIMIT_USD:
        finding = f"{dollars(total_usd)} USD, above the limit of {COST_LIMIT_USD:.2f} USD"
        advice.insert(0, Advice(COST, "Cost", finding, troubleshooting()[COST]))
    return tuple(advice)


def nothing_to_fix(metrics: Mapping[str, Scored]) -> str:
    """The sentence for a place where advice would stand if anything failed."""
    closest = closest_passing(metrics)
    if closest is None:
        return "No metric has a score yet."
    definition, metric = DEFINITIONS[closest], metrics[closest]
    assert metric.score is not None
    limit = f"{metric.threshold:g}" + (" %" if definition.scale == PERCENT else f" of {definition.scale.high:g}")
    words = score_words(definition, metric.score, telling_digits(metric.score, metric.threshold, 1))
    return f"No metric fails so far. Closest to its threshold: {definition.label}, {words} (at least {limit})."


def _on_metric(name: str, metric: Scored) -> Advice:
    definition = DEFINITIONS[name]
    assert metric.score is not None  # failing_first names only metrics that have one
    finding = failure_words(definition, metric.score, metric.threshold, failure_beyond_score(metric))
    side = weak_side_words(metric.details, metric.threshold) if isinstance(metric, MetricResult) else ""
    return Advice(name, definition.label, f"{finding}. {side}" if side else finding, troubleshooting()[name])


@cache
def troubleshooting() -> Mapping[str, tuple[str, ...]]:
    """All actions by metric name, and by ``cost``."""
    return {name: tuple(sentences) for name, sentences in parse_yaml(_FILE.read_text(encoding="utf-8")).items()}
