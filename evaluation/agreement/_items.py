"""The items of a rating (the score from 1 to 5, and the five questions), and figures on them with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluation.ratings import HIGHEST_SCORE, LOWEST_SCORE, SCORES
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.statistics.agreement import Level, Numbers, moments
from evaluation.statistics.intervals import (
    FEWEST_GAMES,
    TOO_FEW,
    Interval,
    no_interval,
    percentile_interval,
    resample_weights,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on the form.

    Attributes:
        column: Its column in the store's table of ratings.
        level: How alpha measures distance: ordinal for the score, nominal for yes and no.
        values: The answers there are to choose from, as numbers.
    """

    name: str
    label: str
    column: str
    level: Level
    values: tuple[float, ...]

    @property
    def short_label(self) -> str:
        """ "Score 1 to 5" or "Question 2"."""
        return self.label if self.is_score else f"Question {self.name.removeprefix('question_')}"

    @property
    def is_score(self) -> bool:
        """Whether it is the 1-5 score rather than a question."""
        return self.level == "ordinal"


SCORE = Item(
    "score",
    f"Score {LOWEST_SCORE} to {HIGHEST_SCORE}",
    "score",
    "ordinal",
    tuple(map(float, SCORES)),
)
ITEMS: tuple[Item, ...] = (
    SCORE,
    *(
        Item(f"question_{number}", question, f"answer_{number}", "nominal", (0.0, 1.0))
        for number, question in enumerate(QUESTIONS, start=1)
    ),
)
"""In the form's order."""


@dataclass(frozen=True, slots=True)
class RatingTable:
    """The current ratings: each rater's latest of each transcript.

    Attributes:
        raters: In alphabetical order.
        transcripts: Ids, in the order in which they were first rated.
        answers: By item name, raters x transcripts, NaN where not rated or not answered; yes is 1, no is 0.
    """

    raters: tuple[str, ...]
    transcripts: tuple[str, ...]
    answers: dict[str, Numbers]

    @property
    def rated(self) -> Numbers:
        """Number of raters of each transcript."""
        return np.asarray((~np.isnan(self.answers[SCORE.name])).sum(axis=0))


def rating_table(ratings: pd.DataFrame) -> RatingTable:
    """The table in what ``Store.ratings.all`` returns; ratings that were revised since are left out."""
    latest = ratings[ratings["is_latest"]]
    raters = tuple(sorted(set(latest["rater"])))
    transcripts = tuple(dict.fromkeys(latest["transcript_id"]))
    rows = latest["rater"].map({name: row for row, name in enumerate(raters)}).to_numpy(dtype=int)
    columns = latest["transcript_id"].map({key: column for column, key in enumerate(transcripts)}).to_numpy(dtype=int)
    answers = {}
    for item in ITEMS:
        table = np.full((len(raters), len(transcripts)), np.nan)
        table[rows, columns] = latest[item.column].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        answers[item.name] = table
    return RatingTable(raters, transcripts, answers)


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
