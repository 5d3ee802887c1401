"""Iterations, their tests of three games, and the decisions about them."""

from evaluation.iterations.board import Board, IterationSummary, make_board
from evaluation.iterations.checklist import Checklist, CheckState, Criterion, checklist
from evaluation.iterations.evidence import disagreement_words, regression_words, target_difference
from evaluation.iterations.from_tables import games_by_iteration, metrics_by_transcript
from evaluation.iterations.iteration import (
    Fate,
    Iteration,
    RecordedDecision,
    baseline_before,
    departs_from,
    new_iteration_name,
    reference_of,
)
from evaluation.iterations.keep_or_revert import Choice, Decision, IterationSide, MetricChange, decide
from evaluation.iterations.tests import (
    TEST_SIZE,
    Chance,
    Game,
    GameFailure,
    GameTest,
    KnownMean,
    MetricMean,
    chance_of_streak,
    form_tests,
    mean_scores,
)

__all__ = [
    "TEST_SIZE",
    "Board",
    "Chance",
    "CheckState",
    "Checklist",
    "Choice",
    "Criterion",
    "Decision",
    "Fate",
    "Game",
    "GameFailure",
    "GameTest",
    "Iteration",
    "IterationSide",
    "IterationSummary",
    "KnownMean",
    "MetricChange",
    "MetricMean",
    "RecordedDecision",
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
    "new_iteration_name",
    "reference_of",
    "regression_words",
    "target_difference",
]
