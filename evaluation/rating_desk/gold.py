"""Gold games: games whose rating the lead has set, to see how far each rater agrees with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.ratings import Rating


@dataclass(frozen=True, slots=True)
class GoldRating:
    """The known rating of a game.

    Attributes:
        score: From 1 to 5.
        answers: To the five questions; ``None`` where the lead leaves it open.
        who: The lead who set it.
    """

    id: int
    transcript_id: str
    score: int
    answers: tuple[bool | None, ...]
    who: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class GoldResult:
    """Agreement of a rater with gold games.

    Attributes:
        games: Gold games that the rater has rated, first ratings only.
        equal: Games with the same score.
        near: Games at most one point apart.
        bias: The rater's mean score above the gold ratings, in points.
        same_answers: Questions that both answered, alike.
        answered: Questions that both answered.
    """

    rater: str
    games: int
    equal: int
    near: int
    bias: float
    same_answers: int
    answered: int


def gold_results(ratings: Sequence[Rating], gold: Sequence[GoldRating]) -> list[GoldResult]:
    """Each rater's first ratings of gold games beside the gold, raters in alphabetical order.

    Args:
        ratings: In the order in which they were given.
        gold: At most one a game. A game's gold rating says nothing about the lead who set it.
    """
    known = {one.transcript_id: one for one in gold}
    first: dict[tuple[str, str], Rating] = {}
    for rating in ratings:
        held = known.get(rating.transcript_id)
        if held is not None and held.who != rating.rater:
            first.setdefault((rating.rater, rating.transcript_id), rating)
    raters = sorted({rater for rater, _ in first})
    return [_result(rater, [one for (who, _), one in first.items() if who == rater], known) for rater in raters]


def _result(rater: str, given: Sequence[Rating], known: dict[str, GoldRating]) -> GoldResult:
    gaps = [one.score - known[one.transcript_id].score for one in given]
    pairs = [
        (mine, theirs)
        for one in given
        for mine, theirs in zip(one.answers, known[one.transcript_id].answers, strict=True)
        if mine is not None and theirs is not None
    ]
    return GoldResult(
        rater,
        len(gaps),
        sum(gap == 0 for gap in gaps),
        sum(abs(gap) <= 1 for gap in gaps),
        sum(gaps) / len(gaps),
        sum(mine == theirs for mine, theirs in pairs),
        len(pairs),
    )
