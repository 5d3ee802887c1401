"""Iterations, their tests of three games, and what follows from them."""

from evaluation.iterations.model import Iteration

__all__ = ["Iteration"]
