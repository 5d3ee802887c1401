"""Convert the store's tables to the games of tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from evaluation.coverage import Coverage
from evaluation.iterations.tests import Game
from evaluation.kept_values import KeptValues
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import Status

if TYPE_CHECKING:
    import pandas


def games_by_iteration(
    summaries: pandas.DataFrame, metrics: Mapping[str, Mapping[str, MetricScore]]
) -> dict[str, list[Game]]:
    """Each iteration's games by its name, in the order in which they were added; equal games are the same objects.

    Args:
        summaries: One row per transcript: ``transcript_id``, ``game_id``, ``iteration``, ``position`` (in the
            iteration), ``total_usd``, ``cache_hit_rate``. Transcripts of no iteration are left out.
        metrics: By transcript, as :func:`metrics_by_transcript` returns them.
    """
    games: dict[str, list[Game]] = {}
    held = summaries[summaries["iteration"].notna()].sort_values(["iteration", "position"], kind="stable")
    columns = (held[name].tolist() for name in ("iteration", "transcript_id", "game_id", "total_usd", "cache_hit_rate"))
    for iteration, key, name, usd, hit_rate in zip(*columns, strict=True):
        game = Game(str(key), str(name), metrics.get(str(key), {}), _number(usd), _number(hit_rate))
        source = (game.game_id, game.metrics, game.total_usd, game.cache_hit_rate)
        games.setdefault(str(iteration), []).append(_games.get(game.transcript_id, source, partial(_same, game)))
    return games


def _same(game: Game) -> Game:
    return game


_games: KeptValues[Game] = KeptValues()
"""So that whoever compares games, or lists of them, with earlier ones is done at once where nothing changed."""


def metrics_by_transcript(scores: pandas.DataFrame) -> dict[str, dict[str, MetricScore]]:
    """The rows of a table of scores, by transcript and metric.

    Args:
        scores: One row per transcript and metric: ``transcript_id``, ``metric``, ``score``, ``status``, ``threshold``,
            and where known ``numerator``, ``denominator``, ``considered``, ``reason``, ``control``.
    """
    metrics: dict[str, dict[str, MetricScore]] = {}
    # Column by column: a record of each of thousands of rows takes several times as long.
    columns = (scores[name].tolist() if name in scores else [None] * len(scores) for name in _COLUMNS)
    for row in zip(*columns, strict=True):
        transcript_id, metric, status, score, threshold, right, settled, considered, reason, control = row
        coverage = None
        if considered and considered == considered:
            coverage = _coverage(str(metric), right, settled, considered)
        # Why a metric fails whatever its score is what later readings of it must know.
        failure = str(reason or "") if status == Status.FAILED else ""
        found = MetricScore(Status(str(status)), _number(score), float(threshold), failure, coverage, control)
        metrics.setdefault(str(transcript_id), {})[str(metric)] = found
    return metrics


_COLUMNS = (
    *("transcript_id", "metric", "status", "score", "threshold"),
    *("numerator", "denominator", "considered", "reason", "control"),
)


def _coverage(metric: str, right: float, settled: float, considered: float) -> Coverage | None:
    rule = DEFINITIONS[metric].coverage
    return None if rule is None else Coverage(rule, round(settled), round(considered), right)


def _number(value: object) -> float | None:
    # Nearly every one, and there are tens of thousands.
    if type(value) is float and value == value:
        return value
    # A missing number stands in a table as None, NaN or pandas.NA.
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
