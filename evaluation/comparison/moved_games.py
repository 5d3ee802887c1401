"""Choose the two games of a comparison whose scores lie farthest apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.iterations.tests import Game
from evaluation.rubric.definitions import DEFINITIONS


def most_moved_pair(
    before: Sequence[Game], after: Sequence[Game], alike: Sequence[tuple[str, str]] = ()
) -> tuple[str, str] | None:
    """The ids of a game of each side, those whose scores differ most: the mean over the metrics that both have.

    Each metric's difference counts as a share of its scale, whichever way it went. The first of equal pairs is taken.

    Args:
        before: The games of the earlier side.
        after: Those of the later one.
        alike: Pairs of one scenario or seed, before and after; where there are any, one of these is taken.

    Returns:
        ``None`` when no two games share a metric with a score.
    """
    apart = _distances(before, after)
    if alike:
        is_alike = np.zeros(apart.shape, dtype=bool)
        old, new = ({game.transcript_id: place for place, game in enumerate(side)} for side in (before, after))
        for one, other in alike:
            is_alike[old[one], new[other]] = True
        apart = np.where(is_alike, apart, np.nan)
    if np.isnan(apart).all():
        return None
    row, column = np.unravel_index(np.nanargmax(apart), apart.shape)
    return before[int(row)].transcript_id, after[int(column)].transcript_id


def _distances(before: Sequence[Game], after: Sequence[Game]) -> np.ndarray:
    """The mean difference of each game before from each after; NaN where they share no metric."""
    total = np.zeros((len(before), len(after)))
    shared = np.zeros((len(before), len(after)))
    for name, definition in DEFINITIONS.items():
        difference = np.abs(_scores(before, name)[:, None] - _scores(after, name)[None, :]) / definition.scale.width
        total += np.nan_to_num(difference)
        shared += ~np.isnan(difference)
    apart: np.ndarray = np.divide(total, shared, out=np.full(total.shape, np.nan), where=shared > 0)
    return apart


def _scores(games: Sequence[Game], metric: str) -> np.ndarray:
    found = (game.metrics.get(metric) for game in games)
    return np.array([np.nan if one is None or one.score is None else one.score for one in found], dtype=float)
