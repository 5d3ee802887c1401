"""Show a rater's own ratings, to revise them, and discarded games, to restore them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.app_pages.review import desk_state, drafts_and_saving
from dashboard.app_pages.review import sections as parts
from dashboard.app_pages.review.rating_desk import REVISE, read_form, read_token
from dashboard.app_pages.review.sheets import sheets
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.text.display import counted

_KEY = "revision_desk"
_DESK = "revision_seat"
_DONE = "revision_done"


def own_ratings(store: Store, rater: str) -> None:
    """The rater's ratings; one that is selected opens on the desk. Both the old and the new rating are kept."""
    desk = desk_state.desk_of(rater, _DESK)
    if desk.data is not None:
        parts.mount(store, desk, _KEY, on_submit=_submit, on_skip=_back)
        return
    if message := st.session_state.pop(_DONE, None):
        st.success(message, icon=":material/check:")
    given = store.ratings.by_rater(rater)
    games = store.transcripts.game_names()
    given = [rating for rating in given if rating.transcript_id in games]
    if given:
        _table(store, rater, given, games)
    else:
        st.info("You have not rated a game yet.")
    _put_aside(store, rater)
    with st.expander("Ratings as a sheet"):
        sheets(store, rater)


def _table(store: Store, rater: str, given: list[Rating], games: dict[str, str]) -> None:
    st.caption(f"{counted(len(given), 'game')} rated. Select one to open it again; both ratings will be kept.")
    frame = pd.DataFrame(
        [
            {
                "Game": games[one.transcript_id],
                "Score": one.score,
                "Yes": f"{one.yes_count} of {sum(answer is not None for answer in one.answers)}",
                "Comment": one.comment,
                "Rated": f"{one.created_at:%Y-%m-%d %H:%M} UTC",
                "Look again": "4 yes promise a 3" if one.breaks_one_way_rule else "",
            }
            for one in given
        ]
    )
    event = status_table(frame, "Your ratings", on_select="rerun", selection_mode="single-row", key="own_table")
    if event.selection.rows:
        chosen = given[event.selection.rows[0]]
        open_again(store, rater, chosen)
        # The row is forgotten, else coming back from the desk would open it again.
        del st.session_state["own_table"]
        st.rerun()


def open_again(store: Store, rater: str, given: Rating) -> desk_state.DeskState:
    """Puts a game that was rated before on the desk, the form filled in as it was."""
    desk = desk_state.DeskState(rater)
    desk_state.take(store, desk, given.transcript_id, desk_state.given_words(given), REVISE, given=given)
    st.session_state[_DESK] = desk
    return desk


def _submit(store: Store, desk: desk_state.DeskState, value: object) -> None:
    form = read_form(value)
    drafts_and_saving.submit(store, desk, value)
    if form is None or desk.data is not None:
        return
    st.session_state[_DONE] = "Saved. Both ratings are kept; the newer one counts."


def _back(desk: desk_state.DeskState, value: object) -> None:
    if desk_state.is_current(desk, read_token(value)):
        desk.data = None


def _put_aside(store: Store, rater: str) -> None:
    found = store.discards.of(rater)
    if not found:
        return
    st.subheader("Cannot be rated", anchor=False)
    # Without the game's name: taken back, it comes to the desk, which is blind.
    st.caption("These are out of your queue. Take one back, and it comes to your desk again.")
    for place, one in enumerate(found):
        with st.container(border=True):
            note = f"\n{one.note}" if one.note else ""
            plain(f"{one.created_at:%Y-%m-%d %H:%M} UTC: {one.reason.words}{note}")
            st.button(
                "Take it back",
                icon=":material/undo:",
                key=f"undiscard_{place}",
                on_click=_undo,
                args=(store, one.id, rater),
            )


def _undo(store: Store, discard_id: int, rater: str) -> None:
    try:
        identity.require(Action.RATE)
        store.discards.undo(discard_id, who=rater)
    except DramaturgError as error:
        st.toast(str(error))
    else:
        st.session_state[_DONE] = "It is in your queue again."
