"""Changes of what is stored, from any page: author, outcome, and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.changes import data
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain, words_of
from dashboard.shared.status_table import pick_row
from evaluation.access import Action
from evaluation.errors import ConflictError, DramaturgError
from evaluation.store import Deletion, Store
from evaluation.text.display import counted

_OUTCOME = "mending_outcome"
_UNDOABLE = "mending_undoable"


def person() -> str:
    """The author of a change: the name that the person signed in or rates with."""
    return identity.author_name()


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


class RecordedEvent(Protocol):
    """A decision or a sign-off on record, in words."""

    @property
    def words(self) -> str:
        """One sentence; untrusted text."""


_Event = TypeVar("_Event", bound=RecordedEvent)


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
        st.session_state[_UNDOABLE] = remove(person()).id

    return attempt(change, said, Action.DELETE)


def show_outcome(store: Store) -> None:
    """The outcome of the last change, shown once, with a button to restore a deletion."""
    said, error = st.session_state.pop(_OUTCOME, (None, None))
    if error is not None:
        st.error(said, icon=":material/error:")
        plain(error)
    elif said is not None:
        st.toast(said, icon=":material/check:")
    deletion = next((one for one in _deletions() if one.id == st.session_state.get(_UNDOABLE)), None)
    if deletion is not None:
        _undo_banner(store, deletion)


def _undo_banner(store: Store, deletion: Deletion) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.badge("deleted", icon=":material/delete:", color="orange")
        st.text(_what(deletion), width="stretch")
        st.button("Undo", key="undo_last", icon=":material/undo:", on_click=_undo, args=(store, deletion.id))
        st.button(
            "Dismiss", key="dismiss_undo", type="tertiary", on_click=lambda: st.session_state.pop(_UNDOABLE, None)
        )


def _undo(store: Store, deletion_id: int) -> None:
    def change() -> None:
        restored = store.deletions.undo(deletion_id, who=person())
        if restored.kind == "iteration":
            state.set_widgets({state.ITERATION: restored.label})

    attempt(change, "Everything is back as it was.", Action.DELETE)


def _purge(store: Store, deletion_id: int) -> None:
    attempt(lambda: _discard(store.deletions.purge(deletion_id, who=person())), "Removed for ever.", Action.DELETE)


def _discard(_deletion: Deletion) -> None:
    """Default callback: does nothing, as the page itself says what was restored or removed."""


def recently_deleted(store: Store) -> None:
    """Deletions that can be restored or purged, with buttons; empty when there are none."""
    found = _deletions()
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
    found = resources.read(data.deleted_among, tuple(transcript_ids))
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


def _deletions() -> list[Deletion]:
    return resources.read(data.deletions)
