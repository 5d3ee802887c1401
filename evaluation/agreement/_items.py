"""The items of a rating: the score from 1 to 5, and the five questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluation.ratings import HIGHEST_SCORE, LOWEST_SCORE, SCORES
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.statistics.agreement import Level, Numbers

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
