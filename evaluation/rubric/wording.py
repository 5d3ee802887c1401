"""Scores as words, for reasons that a person reads."""

from __future__ import annotations

from collections.abc import Sequence

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
    """How many decimals, ``least`` or more, show on which side of ``limit`` a value lies: 79.97 is not 80.0."""
    side = (value > limit) - (value < limit)
    for digits in range(least, _MOST_DIGITS):
        shown = round(value, digits)
        if (shown > limit) - (shown < limit) == side:
            return digits
    return _MOST_DIGITS


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 game", "3 games"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(parts: Sequence[str]) -> str:
    """The parts as an enumeration: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def quoted(words: Sequence[str], most: int = 5) -> str:
    """Quoted words as an enumeration, shortened after ``most``: ``"think", "trust" and 3 more``."""
    shown = [f'"{word}"' for word in words[:most]]
    return listed([*shown, f"{len(words) - most} more"] if len(words) > most else shown)
