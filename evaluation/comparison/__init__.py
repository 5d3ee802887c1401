"""Comparison of two iterations: differences, keep or revert, and their causes down to single messages."""

from evaluation.comparison.failure_reasons import FailureReason, IterationFailures, MetricFailures, failure_reasons
from evaluation.comparison.iterations import IterationComparison, compare_iterations, paired_games
from evaluation.comparison.movers import Example, Mover, biggest_movers

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
