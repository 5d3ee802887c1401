"""Comparison of two iterations: differences, keep or revert, and their causes down to single messages."""

from evaluation.comparison.iterations import IterationComparison, compare_iterations, paired_games
from evaluation.comparison.movers import (
    Example,
    FailureReason,
    IterationFailures,
    MetricFailures,
    Mover,
    biggest_movers,
    failure_reasons,
)

__all__ = [
    "Example",
    "FailureReason",
    "IterationComparison",
    "IterationFailures",
    "MetricFailures",
    "Mover",
    "biggest_movers",
    "compare_iterations",
    "failure_reasons",
    "paired_games",
]
