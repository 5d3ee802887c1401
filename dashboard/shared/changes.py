"""Changes of what is stored, from any page: what there is to change, author, outcome, and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd
import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain, words_of
from dashboard.shared.status_table import pick_row
from evaluation.access import Action
from evaluation.errors import ConflictError, DramaturgError
from evaluation.iterations.board import VersionMix, version_mixes
from evaluation.iterations.iteration import RecordedDecision, SignOff
from evaluation.rubric.definitions import VERSIONS
from evaluation.store import Deletion, Store
from evaluation.text.display import counted
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


_OUTCOME = "mending_outcome"
_UNDOABLE = "mending_undoable"


def attempt(change: Callable[[], object], said: str, action: Action = Action.EDIT) -> bool:
    """Makes a change, from the callback of a widget; whether it could be made.

    Args:
        change: Makes it, whole or not at all.
        said: What to tell the person then, in our own words.
        action: What it is, for whether this person may do it.
    """
    try:
        identity.require(action)
        change()
    except DramaturgError as error:
        st.session_state[_OUTCOME] = ("That was not possible, and nothing was changed.", words_of(error))
        return False
    st.session_state[_OUTCOME] = (said, None)
    return True


_Event = TypeVar("_Event", RecordedDecision, SignOff)


def is_recorded_already(
    events: Sequence[_Event], seen: int, is_same: Callable[[_Event], bool], given: str = ""
) -> bool:
    """Whether what somebody asks for has been recorded since their page was drawn, as by the first of two clicks.

    Args:
        events: All that is on record, oldest first.
        seen: How many there were when the page was drawn.
        is_same: Whether an event is what they ask for.
        given: What they typed, which is told back to them when it is refused.

    Raises:
        ConflictError: Something else was recorded in the meantime, in another tab.
    """
    if len(events) <= seen:
        return False
    if is_same(events[-1]):
        return True
    yours = f" Your text: {given}" if given else ""
    raise ConflictError(f"{events[-1].words}. What you pressed was not recorded.{yours}")


def delete(remove: Callable[[str], Deletion], said: str) -> bool:
    """Deletes something by ``remove``, which is given the person's name, and offers to undo it."""

    def change() -> None:
        st.session_state[_UNDOABLE] = remove(identity.author_name()).id

    return attempt(change, said, Action.DELETE)


def show_outcome(store: Store) -> None:
    """The outcome of the last change, shown once, with a button to restore a deletion."""
    said, error = st.session_state.pop(_OUTCOME, (None, None))
    if error is not None:
        st.error(said, icon=":material/error:")
        plain(error)
    elif said is not None:
        st.toast(said, icon=":material/check:")
    undoable = st.session_state.get(_UNDOABLE)
    deletion = next((one for one in resources.read(store.deletions.list) if one.id == undoable), None)
    if deletion is not None:
        _undo_banner(store, deletion)


def _undo_banner(store: Store, deletion: Deletion) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.badge("deleted", icon=":material/delete:", color="gray")
        st.text(_what(deletion), width="stretch")
        st.button("Undo", key="undo_last", icon=":material/undo:", on_click=_undo, args=(store, deletion.id))
        st.button(
            "Dismiss", key="dismiss_undo", type="tertiary", on_click=lambda: st.session_state.pop(_UNDOABLE, None)
        )


def _undo(store: Store, deletion_id: int) -> None:
    def change() -> None:
        restored = store.deletions.undo(deletion_id, who=identity.author_name())
        if restored.kind == "iteration":
            state.set_widgets({state.ITERATION: restored.label})

    attempt(change, "Everything is back as it was.", Action.DELETE)


def _purge(store: Store, deletion_id: int) -> None:
    attempt(lambda: store.deletions.purge(deletion_id, who=identity.author_name()), "Removed for ever.", Action.DELETE)


def recently_deleted(store: Store) -> None:
    """Deletions that can be restored or purged, with buttons; empty when there are none."""
    found = resources.read(store.deletions.list)
    if not found:
        return
    with st.expander(f"Deleted, can come back: {len(found)}", icon=":material/delete:"):
        st.caption("Deleted games count nowhere. Adding the same file again brings a game back too, with its ratings.")
        rows = [
            {
                "Name": one.label,
                "What": str(one.kind),
                "Games": one.games,
                "By": one.who,
                "When": local_time(one.deleted_at),
            }
            for one in found
        ]
        place = pick_row(rows, "What was deleted and can come back", "deleted_table", at_first=0)
        _ways_back(store, found[place or 0])


def note_deleted(transcript_ids: Sequence[str]) -> None:
    """Says how many of the transcripts that are about to be stored were deleted, and what will become of them."""
    found = resources.read(resources.store().deletions.among, tuple(transcript_ids))
    if found:
        st.info(
            f"{counted(len(found), 'game')} of these had been deleted. Storing brings them back with their scores, "
            "ratings and overrides. To start again, remove them for ever on the Overview first.",
            icon=":material/restore_from_trash:",
        )


def _ways_back(store: Store, deletion: Deletion) -> None:
    plain(f"Chosen: {_what(deletion)}, deleted by {deletion.who} on {local_time(deletion.deleted_at)}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Bring it back",
            key=f"undo_{deletion.id}",
            icon=":material/undo:",
            on_click=_undo,
            args=(store, deletion.id),
        )
        with st.popover("Remove for ever", icon=":material/delete_forever:"):
            st.markdown("Its messages, scores, ratings and overrides are lost then. This cannot be undone.")
            st.button(
                "Yes, remove it for ever",
                key=f"purge_{deletion.id}",
                type="primary",
                on_click=_purge,
                args=(store, deletion.id),
            )


def _what(deletion: Deletion) -> str:
    if deletion.kind == "games":
        return deletion.label if deletion.games == 1 else counted(deletion.games, "game")
    games = f" with {counted(deletion.games, 'game')}" if deletion.games else ""
    return f"The iteration {deletion.label}{games}"
