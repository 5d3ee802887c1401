"""Read the data that pages need to correct what is stored. Independent of Streamlit."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dashboard.shared import queries
from dashboard.shared.local_time import local_time
from evaluation.iterations.board import VersionMix, version_mixes
from evaluation.iterations.iteration import Edit, RecordedDecision, SignOff
from evaluation.rubric.definitions import VERSIONS
from evaluation.store import Deletion, Store
from evaluation.workflows.reevaluation import outdated


@dataclass(frozen=True, slots=True)
class Versions:
    """The places where results of several versions of a metric meet.

    Attributes:
        all: Over all stored games.
        outdated: How many games have a result that is missing or not of today's version; 0 where all results compare.
    """

    all: tuple[VersionMix, ...]
    outdated: int


def versions(store: Store) -> Versions:
    """The metrics whose scores do not compare until games are scored again."""
    with store.unit():
        # Nearly always, and the table of all scores need not be looked through.
        if store.results.versions() <= VERSIONS.items():
            return Versions((), 0)
        return Versions(version_mixes(store.results.scores(), VERSIONS), len(outdated(store)))


def mixes_between(store: Store, before: str, after: str) -> tuple[VersionMix, ...]:
    """The metrics whose scores do not compare between two iterations until games are scored again."""
    with store.unit():
        if store.results.versions() <= VERSIONS.items():
            return ()
        scores, summaries = store.results.scores(), store.transcripts.summaries()
    return version_mixes(
        scores, VERSIONS, set(summaries.loc[summaries["iteration"].isin([before, after]), "transcript_id"])
    )


def waiting_counts(waiting: pd.DataFrame) -> pd.DataFrame:
    """Number of waiting games by iteration, the most first.

    Args:
        waiting: As ``queries.Overview`` holds it.
    """
    counts = waiting["Iteration"].replace("", queries.NO_ITERATION).value_counts()
    return pd.DataFrame({"Iteration": counts.index, "Games that wait": counts.to_numpy()})


def stored_games(store: Store) -> pd.DataFrame:
    """Every game with its place, for moving and deleting several at once.

    Returns:
        ``transcript_id``, ``Game``, ``Iteration`` (empty for none), ``Messages``, ``File``, ``Added`` in words.
    """
    summaries = store.transcripts.summaries()
    return pd.DataFrame(
        {
            "transcript_id": summaries["transcript_id"],
            "Game": summaries["game"],
            "Iteration": summaries["iteration"].fillna(""),
            "Messages": summaries["messages"],
            "File": summaries["source_name"],
            "Added": summaries["added_at"].map(local_time),
        }
    )


def deletions(store: Store) -> list[Deletion]:
    """Deletions that can be restored, the latest first."""
    return store.deletions.list()


def deleted_among(store: Store, transcript_ids: tuple[str, ...]) -> frozenset[str]:
    """Those among the transcripts that were deleted: adding them again brings them back."""
    return store.deletions.among(transcript_ids)


def history(store: Store, iteration: str) -> list[Edit]:
    """Changes of an iteration's name and description, oldest first."""
    return store.iterations.history(iteration)


def sign_offs(store: Store, iteration: str) -> list[SignOff]:
    """Every sign-off of an iteration and every withdrawal, oldest first."""
    return store.iterations.sign_offs(iteration)


def decisions(store: Store, name: str) -> list[RecordedDecision]:
    """Every decision that people recorded on an iteration's change, oldest first."""
    return store.iterations.decisions(name)
