"""Open the rating desk on one game or on an iteration's games, if another page asked for it."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.review import desk_state
from dashboard.app_pages.review.rating_desk import RATE, REVISE
from dashboard.shared import state
from dashboard.shared.rating.desk_link import HANDED_OVER
from evaluation.errors import NotFoundError
from evaluation.iterations import reference_of
from evaluation.store import Store

_WORDS = "You chose this game yourself. If you have seen its scores, say so in the comment."


def take_handed_over(store: Store, rater: str) -> None:
    """Keeps for this rater which games come first, once they were handed over."""
    name = st.session_state.pop(HANDED_OVER, None)
    if name is None:
        return
    iterations = store.iterations.list()
    held = next((one for one in iterations if one.name == name), None)
    reference = reference_of(held, iterations) if held else None
    store.rating_queue.hand_over(rater, name, reference.name if reference else None)


def take_picked(store: Store, rater: str) -> None:
    """Puts the game in the URL on the desk, before what the queue has; one rated before, with what was given.

    It stays in the URL until it is saved, skipped or put aside, so that a reload finds it on the desk again.
    """
    wanted = state.chosen(state.GAME)
    desk = desk_state.desk_of(rater)
    if wanted is None or (desk.transcript_id == wanted and desk.data is not None):
        return
    if any(aside.transcript_id == wanted for aside in store.discards.of(rater)):
        st.info("You said of that game that it cannot be rated. Under My ratings you can take it back.")
        return
    try:
        _take(store, desk, wanted)
    except NotFoundError:
        st.warning("That game is not here any more. Here is the next one of your queue.")
        state.choose(game=None)


def _take(store: Store, desk: desk_state.DeskState, wanted: str) -> None:
    given = next((one for one in store.ratings.by_rater(desk.rater) if one.transcript_id == wanted), None)
    if given is None:
        desk_state.take(store, desk, wanted, _WORDS, RATE)
    else:
        desk_state.take(store, desk, wanted, desk_state.given_words(given), REVISE, given=given)
