"""A figure with its interval over games."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.agreement import Numbers, moments
from evaluation.statistics.intervals import Interval, no_interval
from evaluation.statistics.resampling import FEWEST_GAMES, TOO_FEW, percentile_interval, resample_weights

Statistic = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, NaN where it is not defined, with its bootstrap interval over games."""

    value: float
    interval: Interval

    @property
    def is_known(self) -> bool:
        """Whether there is a number at all."""
        return not math.isnan(self.value)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible; a number that is not defined is null."""
        return {"value": self.value if self.is_known else None, "interval": self.interval.as_dict()}


def figure(statistic: Statistic, per_game: Numbers, *, seed: int = 0) -> Figure:
    """``statistic`` of sums over games, with its interval.

    Args:
        statistic: From sums (... x columns) to numbers.
        per_game: Games x columns: what each game adds to the sums.
        seed: Of the bootstrap.
    """
    return figures([(statistic, per_game)], seed=seed)[0]


def figures(parts: Sequence[tuple[Statistic, Numbers]], *, seed: int = 0) -> list[Figure]:
    """Several statistics of the same games at once: drawing the samples is what takes the time."""
    games = len(parts[0][1])
    if not games:
        return [Figure(math.nan, no_interval("no games")) for _ in parts]
    together = np.concatenate([per_game for _, per_game in parts], axis=1)
    drawn = resample_weights(games, seed=seed) @ together if games >= FEWEST_GAMES else None
    found, start = [], 0
    for statistic, per_game in parts:
        columns = slice(start, start := start + per_game.shape[1])
        found.append(_figure(statistic, per_game, None if drawn is None else drawn[:, columns]))
    return found


def _figure(statistic: Statistic, per_game: Numbers, drawn: Numbers | None) -> Figure:
    value = float(statistic(per_game.sum(axis=0)))
    if math.isnan(value):
        return Figure(value, no_interval("not defined: no spread seen, or no pair"))
    if drawn is None:
        return Figure(value, no_interval(TOO_FEW))
    return Figure(value, percentile_interval(statistic(drawn), len(per_game)))


def share_of(sums: Numbers) -> Numbers:
    """The first column over the second; NaN without any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


def moments_per_game(x: Numbers, y: Numbers, game: NDArray[np.intp], games: int) -> Numbers:
    """Games x 6: the :func:`~evaluation.statistics.agreement.moments` of the pairs of each game, summed."""
    sums = np.zeros((games, 6))
    np.add.at(sums, game, moments(x, y))
    return sums
