"""Convert the store's tables to the games of tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evaluation.coverage import Coverage
from evaluation.iterations.tests import Game
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status

if TYPE_CHECKING:
    import pandas


def games_by_iteration(summaries: pandas.DataFrame, scores: pandas.DataFrame) -> dict[str, list[Game]]:
    """Each iteration's games by its name, in the order in which they were added.

    Args:
        summaries: One row per transcript: ``transcript_id``, ``game_id``, ``iteration``, ``position`` (in the
            iteration), ``total_usd``, ``cache_hit_rate``. Transcripts of no iteration are left out.
        scores: One row per transcript and metric: ``transcript_id``, ``metric``, ``score``, ``status``, ``threshold``,
            and where known ``denominator``, ``considered``, ``reason``, ``control``.
    """
    metrics = metrics_by_transcript(scores)
    games: dict[str, list[Game]] = {}
    held = summaries[summaries["iteration"].notna()].sort_values(["iteration", "position"], kind="stable")
    for row in held.to_dict("records"):
        transcript_id = str(row["transcript_id"])
        game = Game(
            transcript_id,
            str(row["game_id"]),
            metrics.get(transcript_id, {}),
            _number(row["total_usd"]),
            _number(row["cache_hit_rate"]),
        )
        games.setdefault(str(row["iteration"]), []).append(game)
    return games


def metrics_by_transcript(scores: pandas.DataFrame) -> dict[str, dict[str, MetricScore]]:
    """The rows of a table of scores (as :func:`games_by_iteration` takes it), by transcript and metric."""
    metrics: dict[str, dict[str, MetricScore]] = {}
    # Column by column: a record of each of thousands of rows takes several times as long.
    columns = (scores[name].tolist() if name in scores else [None] * len(scores) for name in _COLUMNS)
    for row in zip(*columns, strict=True):
        transcript_id, metric, status, score, threshold, settled, considered, reason, control = row
        coverage = _coverage(str(metric), settled, considered) if considered and considered == considered else None
        # Why a metric fails whatever its score is what later readings of it must know.
        failure = str(reason or "") if status == Status.FAILED else ""
        found = MetricScore(Status(str(status)), _number(score), float(threshold), failure, coverage, control)
        metrics.setdefault(str(transcript_id), {})[str(metric)] = found
    return metrics


_COLUMNS = (
    *("transcript_id", "metric", "status", "score", "threshold"),
    *("denominator", "considered", "reason", "control"),
)


def _coverage(metric: str, settled: float, considered: float) -> Coverage | None:
    rule = DEFINITIONS[metric].coverage
    return None if rule is None else Coverage(rule, round(settled), round(considered))


def _number(value: object) -> float | None:
    # A missing number stands in a table as None, NaN or pandas.NA.
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
