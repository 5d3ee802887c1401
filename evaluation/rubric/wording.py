"""Scores as text, for reasons that a person reads."""

from __future__ import annotations

from evaluation.score import PERCENT, MetricDefinition

_MOST_DIGITS = 9


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


def telling_digits(value: float, limit: float, least: int) -> int:
    """Decimals, ``least`` or more, that show on which side of ``limit`` a value lies: 79.97 is not 80.0."""
    side = (value > limit) - (value < limit)
    for digits in range(least, _MOST_DIGITS):
        shown = round(value, digits)
        if (shown > limit) - (shown < limit) == side:
            return digits
    return _MOST_DIGITS
