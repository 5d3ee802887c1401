"""Find the games to check first: raters differ, or raters and rules differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.agreement._items import ITEMS, SCORE, RatingTable
from evaluation.ratings import checked_score
from evaluation.statistics.agreement import Numbers


@dataclass(frozen=True, slots=True)
class GameDisagreement:
    """A game on which raters differ.

    Attributes:
        scores: Each rater's score, the lowest first.
        spread: Highest minus lowest score.
        split_questions: Numbers (from 1) of the questions that got both yes and no.
    """

    transcript_id: str
    game_id: str
    scores: tuple[tuple[str, float], ...]
    spread: float
    split_questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleGap:
    """A game that raters and rules see differently.

    Attributes:
        rated: The raters' mean, 1 to 5.
        raters: How many.
        automatic: The mean of its percent metrics, laid on 1 to 5.
        gap: Automatic minus rated.
    """

    transcript_id: str
    game_id: str
    rated: float
    raters: int
    automatic: float

    @property
    def gap(self) -> float:
        return self.automatic - self.rated


def split_games(table: RatingTable, names: Mapping[str, str]) -> tuple[GameDisagreement, ...]:
    """Every game on which two raters differ in the score or a question, the widest spread first."""
    scores = table.answers[SCORE.name]
    found = []
    for column, transcript_id in enumerate(table.transcripts):
        given = sorted(
            (checked_score(float(score)), rater)
            for score, rater in zip(scores[:, column], table.raters, strict=True)
            if not math.isnan(score)
        )
        if len(given) < 2:
            continue
        split = tuple(
            number for number, item in enumerate(ITEMS[1:], start=1) if _is_split(table.answers[item.name][:, column])
        )
        spread = given[-1][0] - given[0][0]
        if spread or split:
            by_rater = tuple((rater, score) for score, rater in given)
            found.append(GameDisagreement(transcript_id, names.get(transcript_id, ""), by_rater, spread, split))
    return tuple(sorted(found, key=lambda one: (-one.spread, -len(one.split_questions))))


def rule_gaps(table: RatingTable, automatic: Mapping[str, float], names: Mapping[str, str]) -> tuple[RuleGap, ...]:
    """Every rated game with an automatic score (the mean of its percent metrics, by id), the widest gap first."""
    scores = table.answers[SCORE.name]
    found = []
    for column, transcript_id in enumerate(table.transcripts):
        percent = automatic.get(transcript_id, math.nan)
        given = scores[~np.isnan(scores[:, column]), column]
        if len(given) and not math.isnan(percent):
            laid = SCORE.values[0] + percent / 100.0 * (SCORE.values[-1] - SCORE.values[0])
            name = names.get(transcript_id, "")
            found.append(RuleGap(transcript_id, name, float(given.mean()), len(given), laid))
    return tuple(sorted(found, key=lambda one: -abs(one.gap)))


def _is_split(answers: Numbers) -> bool:
    given = answers[~np.isnan(answers)]
    return len(np.unique(given)) > 1
