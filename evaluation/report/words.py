"""Texts that all reports share: status marks, scores with units, and how to read the figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from evaluation.files.html_templates import render
from evaluation.report.svg import Strip
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.wording import score_words, telling_digits
from evaluation.score import MetricDefinition
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words
from evaluation.text.display import counted

_GOOD = frozenset({"passed", "met", "keep", "kept", "better"})
_BAD = frozenset({"failed", "not met", "revert", "reverted", "worse"})
_MARKS = {"pending": "…", "not yet": "…", "undecidable": "–", "not applicable": "–", "no evidence either way": "–"}

_READING = (
    "A game is the unit of sampling: three games of one prompt are three values, however many messages they hold.",
    "Intervals are 95 %, two-sided: Student's t below 20 games, a bootstrap (BCa) from 20 on. Equal values have none.",
    "A metric that waits for a rating or does not apply has no number and stays out of means.",
    "In charts, dots are games, diamonds means with their intervals, and the dashed line is the threshold.",
)


def status_words(status: object) -> str:
    """A status as a symbol and a word, so that no colour is needed: "✓ passed"."""
    word = str(status).replace("_", " ")
    mark = "✓" if word in _GOOD else "✗" if word in _BAD else _MARKS.get(word, "?")
    # No line ends between the two.
    return f"{mark}\u00a0{word}"


class Badge(NamedTuple):
    """A status in a frame.

    Attributes:
        words: What it says.
        tone: "good", "bad" or nothing.
    """

    words: str
    tone: str = ""


def badge(status: object, words: str = "") -> Badge:
    """The badge of a status, which its symbol and word stand in unless other words are given."""
    word = str(status).replace("_", " ")
    return Badge(words or status_words(status), "good" if word in _GOOD else "bad" if word in _BAD else "")


def mean_words(definition: MetricDefinition, score: float | None, threshold: float) -> str:
    """A score with its unit, and the digits that show why it failed; "no score" without one."""
    if score is None:
        return "no score"
    return score_words(definition, score, telling_digits(score, threshold, 1) if score < threshold else 1)


def needed_words(definition: MetricDefinition, threshold: float) -> str:
    """The threshold of a score: "at least 80 %"."""
    return f"at least {score_words(definition, threshold, 0 if threshold == round(threshold) else 1)}"


def strip_of(label: str, definition: MetricDefinition, values: Sequence[float], names: Sequence[str]) -> Strip:
    """A group of games in a chart, with its mean and interval."""
    interval = mean_interval(values, limits=definition.scale.limits)
    mean = sum(values) / len(values) if values else None
    words = f"mean {score_words(definition, mean)} of {counted(len(values), 'game')}" if mean is not None else ""
    return Strip(
        label, tuple(values), mean, interval, tuple(names), f"{words}, 95 % interval {interval_words(interval)}"
    )


def chart_words(definition: MetricDefinition, strips: Sequence[Strip], threshold: float) -> str:
    """A chart in words: every group's mean and interval."""
    parts = (f"{strip.label}: {strip.words if strip.values else 'no score'}" for strip in strips)
    return f"{definition.label}, {needed_words(definition, threshold)}. " + "; ".join(parts)


def report_page(template: str, title: str, made_at: datetime, notes: Sequence[str] = (), **values: object) -> str:
    """A report as one HTML document, with what its figures rest on and when it was written.

    Args:
        template: The name of its file.
        title: Its heading.
        made_at: When it is written (UTC).
        notes: On how to read this kind of report.
        values: What the template's names stand for.
    """
    reading, written = (*_READING, *notes), f"{made_at:%Y-%m-%d at %H:%M} UTC"
    return render(f"report/templates/{template}", title=title, reading=reading, made_at=written, **values)


METRICS = tuple(DEFINITIONS.values())
