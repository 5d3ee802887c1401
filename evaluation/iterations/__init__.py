"""Iterations, their tests of three games, and what follows from them."""

from evaluation.iterations.board import Board, IterationSummary, make_board
from evaluation.iterations.chance import Chance, chance_of_streak
from evaluation.iterations.checklist import Check, Checklist, CheckState, checklist
from evaluation.iterations.decision import Choice, Decision, MetricChange, decide
from evaluation.iterations.frames import games_by_iteration, metrics_by_transcript
from evaluation.iterations.model import Iteration
from evaluation.iterations.tests import TEST_SIZE, Game, GameTest, Known, MetricMean, form_tests, mean_scores

__all__ = [
    "TEST_SIZE",
    "Board",
    "Chance",
    "Check",
    "CheckState",
    "Checklist",
    "Choice",
    "Decision",
    "Game",
    "GameTest",
    "Iteration",
    "IterationSummary",
    "Known",
    "MetricChange",
    "MetricMean",
    "chance_of_streak",
    "checklist",
    "decide",
    "form_tests",
    "games_by_iteration",
    "make_board",
    "mean_scores",
    "metrics_by_transcript",
]
