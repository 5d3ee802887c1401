"""Figures of agreement and of comparisons: what they draw, and that untrusted text stays text."""

from __future__ import annotations

import math

import pytest

from dashboard.shared.charts.comparison_charts import Whisker, whisker_figure, whisker_words
from evaluation.statistics.intervals import Interval

ROWS = [
    Whisker("Score", 0.75, Interval(0.2, 0.9)),
    Whisker("Question 1", 0.1, Interval(None, None, note="too few")),
    Whisker("Question 2", math.nan, Interval(None, None)),
]


def test_dots_with_their_intervals() -> None:
    [dots] = whisker_figure(ROWS, "alpha").data
    assert list(dots.x) == [0.75, 0.1]
    # What has no value leaves its row empty; the first row is on top.
    assert list(dots.y) == [0, 1]
    assert list(dots.error_x.array) == pytest.approx([0.15, 0.0])
    assert list(dots.error_x.arrayminus) == pytest.approx([0.55, 0.0])


def test_figures_in_words() -> None:
    assert [whisker_words(row) for row in ROWS] == [
        "Score: 0.75 (0.20 to 0.90)",
        "Question 1: 0.10, no interval",
        "Question 2: not defined",
    ]
