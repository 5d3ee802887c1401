"""Scores as text, for reasons that a person reads."""

from __future__ import annotations

from evaluation.score import PERCENT, MetricDefinition
from evaluation.text.display import telling_digits


def score_words(definition: MetricDefinition, score: float, digits: int = 1) -> str:
    """The score with its unit: "76.0 %" or "3.5 of 5"."""
    if definition.scale == PERCENT:
        return f"{score:.{digits}f} %"
    return f"{score:.{digits}f} of {definition.scale.high:g}"


def shortfall_words(definition: MetricDefinition, score: float, threshold: float) -> str:
    """A failed score beside its threshold: "76.0 %, below the threshold of 80 %"."""
    unit = " %" if definition.scale == PERCENT else ""
    words = score_words(definition, score, telling_digits(score, threshold, 1))
    return f"{words}, below the threshold of {threshold:g}{unit}"


def failure_words(definition: MetricDefinition, score: float, threshold: float, failure: str = "") -> str:
    """A failed score beside its threshold, or beside the reason why it fails whatever the score."""
    return (
        f"{score_words(definition, score)}, but {failure}" if failure else shortfall_words(definition, score, threshold)
    )
