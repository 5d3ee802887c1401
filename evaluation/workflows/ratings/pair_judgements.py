"""Blind judgements of two games against each other: the next pair, its answer, and the win rate of an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.errors import ConflictError
from evaluation.rating_desk.game_pairs import (
    GamePair,
    PairChoice,
    PairJudgement,
    PairResult,
    game_pairs,
    held_between,
    next_pair,
    pair_result,
)
from evaluation.ratings import rater_name
from evaluation.store import Store
from evaluation.workflows.reports import games_alike

if TYPE_CHECKING:
    import pandas as pd

JUDGEMENT_COLUMNS = (
    "judgement_id",
    "rater",
    "left",
    "right",
    "left_iteration",
    "right_iteration",
    "choice",
    "better",
    "given_at",
    "withdrawn_at",
)


def pair_to_judge(store: Store, rater: str, before: str, after: str) -> GamePair | None:
    """The pair of games of two iterations that the rater judges next; ``None`` when none is left."""
    name = rater_name(rater)
    with store.unit():
        pairs = _pairs(store, name, before, after)
        return next_pair(pairs, store.pair_judgements.judged_by(name))


def judge_pair(store: Store, rater: str, before: str, after: str, pair: GamePair, choice: PairChoice) -> str:
    """Stores the rater's answer about the pair that they were shown; returns its id.

    Raises:
        ConflictError: The rater has judged the two games, or they do not belong to the two iterations any more.
    """
    name = rater_name(rater)
    with store.unit(write=True):
        if pair not in _pairs(store, name, before, after):
            raise ConflictError("These games were moved.", remedy="Open the page again for another pair.")
        return store.pair_judgements.add(name, pair, choice)


def judgements_between(store: Store, before: str, after: str) -> list[PairJudgement]:
    """The judgements that hold of games of two iterations against each other, in the order in which they were given."""
    with store.unit():
        sides = store.transcripts.ids(before), store.transcripts.ids(after)
        return held_between(store.pair_judgements.list(), *sides)


def win_rate_of(store: Store, before: str, after: str) -> PairResult:
    """The share of judgements in which the games of ``after`` were better to watch than those of ``before``."""
    with store.unit():
        sides = store.transcripts.ids(before), store.transcripts.ids(after)
        return pair_result(judgements_between(store, before, after), *sides)


def judgement_table(store: Store) -> pd.DataFrame:
    """Every judgement of stored games, withdrawn ones included, in the order in which they were given.

    Returns:
        One row per judgement: ``judgement_id``, ``rater``, ``left`` and ``right`` (ids of transcripts, as they stood),
        ``left_iteration`` and ``right_iteration`` (empty for none), ``choice``, ``better`` (the id of the better game,
        empty for no difference), ``given_at`` and ``withdrawn_at`` (UTC).
    """
    import pandas as pd

    with store.unit():
        summaries = store.transcripts.summaries().set_index("transcript_id")["iteration"]
        iterations = summaries.astype(object).where(summaries.notna(), "").to_dict()
        rows = [
            (
                one.id,
                one.rater,
                one.pair.left,
                one.pair.right,
                iterations[one.pair.left],
                iterations[one.pair.right],
                str(one.choice),
                one.better or "",
                one.given_at,
                one.withdrawn_at,
            )
            for one in store.pair_judgements.list()
        ]
    return pd.DataFrame(rows, columns=list(JUDGEMENT_COLUMNS))


def _pairs(store: Store, rater: str, before: str, after: str) -> list[GamePair]:
    old, new = store.transcripts.ids(before), store.transcripts.ids(after)
    return game_pairs(rater, old, new, games_alike(store, old, new))
