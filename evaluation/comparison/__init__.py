"""Comparison of two iterations: differences, keep or revert, and their causes down to single messages."""

from evaluation.comparison.iterations import IterationComparison, compare_iterations
from evaluation.comparison.movers import Example, Mover, biggest_movers
from evaluation.comparison.paired_games import paired_games

__all__ = [
    "Example",
    "IterationComparison",
    "Mover",
    "biggest_movers",
    "compare_iterations",
    "paired_games",
]
