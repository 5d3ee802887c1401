"""Convert the store's table of transcripts to the games of tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evaluation.iterations.tests import Game
from evaluation.rubric.verdict import MetricScore

if TYPE_CHECKING:
    import pandas


def games_by_iteration(
    summaries: pandas.DataFrame, metrics: Mapping[str, Mapping[str, MetricScore]]
) -> dict[str, list[Game]]:
    """Each iteration's games by its name, in the order in which they were added.

    Args:
        summaries: One row per transcript: ``transcript_id``, ``game_id``, ``iteration``, ``position`` (in the
            iteration), ``total_usd``, ``cache_hit_rate``. Transcripts of no iteration are left out.
        metrics: By transcript and metric.
    """
    games: dict[str, list[Game]] = {}
    held = summaries[summaries["iteration"].notna()].sort_values(["iteration", "position"], kind="stable")
    columns = (held[name].tolist() for name in ("iteration", "transcript_id", "game_id", "total_usd", "cache_hit_rate"))
    for iteration, key, name, usd, hit_rate in zip(*columns, strict=True):
        game = Game(str(key), str(name), metrics.get(str(key), {}), _number(usd), _number(hit_rate))
        games.setdefault(str(iteration), []).append(game)
    return games


def _number(value: object) -> float | None:
    # Nearly every one, and there are tens of thousands.
    if type(value) is float and value == value:
        return value
    # A missing number stands in a table as None, NaN or pandas.NA.
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
