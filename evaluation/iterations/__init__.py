"""Iterations, their tests of three games, and what follows from them."""

from evaluation.iterations.board import Board, IterationSummary, make_board
from evaluation.iterations.chance import Chance, chance_of_streak
from evaluation.iterations.checklist import Check, Checklist, CheckState, checklist
from evaluation.iterations.decision import Choice, Decision, MetricChange, Side, decide
from evaluation.iterations.evidence import disagreement_words, regression_words, target_difference
from evaluation.iterations.frames import games_by_iteration, metrics_by_transcript
from evaluation.iterations.model import Fate, Iteration, RecordedDecision, departs_from
from evaluation.iterations.reference import baseline_before, reference_of
from evaluation.iterations.tests import (
    TEST_SIZE,
    Game,
    GameFailure,
    GameTest,
    Known,
    MetricMean,
    form_tests,
    mean_scores,
)

__all__ = [
    "TEST_SIZE",
    "Board",
    "Chance",
    "Check",
    "CheckState",
    "Checklist",
    "Choice",
    "Decision",
    "Fate",
    "Game",
    "GameFailure",
    "GameTest",
    "Iteration",
    "IterationSummary",
    "Known",
    "MetricChange",
    "MetricMean",
    "RecordedDecision",
    "Side",
    "baseline_before",
    "chance_of_streak",
    "checklist",
    "decide",
    "departs_from",
    "disagreement_words",
    "form_tests",
    "games_by_iteration",
    "make_board",
    "mean_scores",
    "metrics_by_transcript",
    "reference_of",
    "regression_words",
    "target_difference",
]
