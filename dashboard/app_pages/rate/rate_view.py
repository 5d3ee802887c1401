"""The Rate page: who rates, and the desk."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.app_pages.rate import desk_state
from dashboard.app_pages.rate.desk_state import (
    DeskState,
    change,
    desk_of,
    discard,
    keep_draft,
    skip,
    submit,
    take_next,
    take_up,
    tell,
)
from dashboard.app_pages.rate.rating_desk import RATE, REVISE, rating_desk
from dashboard.shared import state
from dashboard.shared.identity import identity
from dashboard.shared.identity.visible_games import game_called
from dashboard.shared.notices import refusal_told, words_of
from dashboard.shared.page_links import DESK, HANDED_OVER, HOW_TO_RATE, OVERVIEW_PAGE, OWN, TEAM_PAGE, VIEW
from evaluation.access import Action
from evaluation.errors import ConflictError, NotFoundError, StoreError
from evaluation.iterations.iteration import reference_of
from evaluation.store import Store
from evaluation.store.rating_desk import QueueProgress
from evaluation.text.display import counted

_KEY = "rating_desk"
_RATED_FOR = "rated_for"
"""The iteration whose decision waits for what this session rates; never sent to the page."""


def ask_for_name(store: Store) -> None:
    """Asks once who rates; the browser keeps the name from then on."""
    st.markdown(
        "Computer players play Mafia, also called Werewolf: some are secretly the Mafia, the others try to find them "
        "and vote them out. You read what they say, give one score for how good it was to watch, and answer five "
        "questions with yes or no.\n\n"
        "Scores, roles and the prompt behind a game stay hidden here until you have rated it. Stop whenever you like: "
        "each rating is kept at once, under your name, which your team sees.",
        width=640,
    )
    with st.form("rater_name", width=420):
        name = st.text_input("Your name", help="Always the same one: another name is another rater.")
        if st.form_submit_button("Start", type="primary"):
            if not name.strip():
                st.error("Enter your name.")
                return
            known = {one.rater for one in store.ratings.current()}
            with refusal_told("That name cannot be used."):
                identity.use_name(name, known)
                st.rerun()


def desk(store: Store, rater: str, progress: QueueProgress) -> None:
    """Draw the desk with the next unrated transcript, or what to do when there is none.

    No fragment: a server that was restarted does not know fragments of pages that are open, and would drop the form.
    """
    identity.note_at_desk(rater)
    desk = desk_of(rater)
    if desk.data is None:
        _lead_back(store, rater)
        take_next(store, desk, progress)
    if desk.data is None:
        _nothing_left(store, desk, progress)
        return
    mount(store, desk, _KEY, on_submit=submit, on_skip=skip, is_new=not progress.rated)


def desk_as_it_was(store: Store, rater: str, error: StoreError) -> bool:
    """The desk with what it held before the database could not be used, which it says; false when it held nothing.

    What was filled in stays on the screen, and is saved once the database can be used again.
    """
    desk = desk_of(rater)
    if desk.data is None:
        return False
    if desk.data["error"] is None or words_of(error) not in desk.data["error"]["text"]:
        tell(desk, words_of(error))
    mount(store, desk, _KEY, on_submit=submit, on_skip=skip)
    return True


def mount(
    store: Store,
    desk: DeskState,
    key: str,
    *,
    on_submit: Callable[[Store, DeskState, object], None],
    on_skip: Callable[[Store, DeskState, object], None],
    is_new: bool = False,
) -> None:
    """Draws the desk with the game of ``desk``; what comes back goes to the functions."""
    assert desk.data is not None
    reactions: dict[str, Callable[[Store, DeskState, object], None]]
    reactions = {"submit": on_submit, "draft": keep_draft, "skip": on_skip, "discard": discard, "begun": take_up}
    reactions |= {"change": change, "guide": lambda *_: _to_guide()}
    rating_desk(
        desk.data
        | {"kept": desk.kept, "last": desk.last, "isNew": is_new}
        | {"again": "Undo “Cannot rate”" if desk.is_last_aside else "Change the last rating"},
        key=key,
        react=lambda name: reactions[name](store, desk, state.sent(key, name)),
    )
    desk.receipt = st.empty()


def _nothing_left(store: Store, desk: DeskState, progress: QueueProgress) -> None:
    if desk.left_words:
        st.warning(desk.left_words)
    put_aside = f"You said of {progress.discarded} that they cannot be rated: *{OWN}* takes them back."
    aside = f" {put_aside}" if progress.discarded else ""
    if progress.skipped:
        left = f": {progress.skipped} skipped, {progress.rated} of {progress.total} rated"
        if progress.waiting and not desk.goes_on:
            done = f"{progress.assigned - progress.waiting} of {progress.assigned} done"
            left = f" of those assigned to you: {progress.waiting} skipped, {done}"
        st.success(f"Nothing new is left{left}.")
        if st.button("Go through the skipped ones", type="primary", key="unskip"):
            store.rating_queue.take_back_skips(desk.rater)
            st.rerun()
        return
    if progress.assigned and not desk.goes_on:
        _assignments_done(desk, progress)
        return
    if progress.discarded:
        st.success(f"You have rated {progress.rated} of {counted(progress.total, 'game')}.{aside}")
        return
    st.success(f"You have rated all {counted(progress.total, 'game')}. Thank you.", icon=":material/check:")
    _agreement_link()
    if identity.allowed(Action.EDIT):
        st.page_link(OVERVIEW_PAGE, label="See what it changed")


def _assignments_done(desk: DeskState, progress: QueueProgress) -> None:
    all_of_them = f"all {progress.assigned} games that were" if progress.assigned > 1 else "the game that was"
    st.success(f"You have done {all_of_them} assigned to you. Thank you.", icon=":material/check:")
    with st.container(horizontal=True):
        _agreement_link()
        if progress.left > 0 and st.button("Rate more games", key="go_on"):
            desk.goes_on = True
            st.rerun()


def _agreement_link() -> None:
    if identity.allowed(Action.SEE_RATINGS):
        query = {state.TEAM_VIEW: state.AGREEMENT}
        st.page_link(TEAM_PAGE, label="See how far raters agree", query_params=query)


def to_desk() -> None:
    """Shows the desk; a widget callback."""
    st.session_state[VIEW] = DESK


def _to_guide() -> None:
    st.session_state[VIEW] = HOW_TO_RATE


_WORDS = "This game was picked, not handed out by the queue. If you have seen its scores, say so in the comment."


def take_handed_over(store: Store, rater: str) -> None:
    """Keeps for this rater which games come first, once they were handed over."""
    name = st.session_state.pop(HANDED_OVER, None)
    if name is None:
        return
    iterations = store.iterations.list()
    held = next((one for one in iterations if one.name == name), None)
    reference = reference_of(held, iterations) if held else None
    store.rating_queue.hand_over(rater, name, reference.name if reference else None)
    desk = desk_of(rater)
    desk.handed_over = store.rating_queue.handed_over_left(rater)
    if desk.handed_over:
        st.session_state[_RATED_FOR] = name
        # What lay on the desk before waits with its draft.
        desk_state.clear(desk)
    else:
        st.info("You have put all of these games aside. Somebody else has to rate them.")


def _lead_back(store: Store, rater: str) -> None:
    """Open the Overview again once the games that it handed over are rated or put aside."""
    name = st.session_state.get(_RATED_FOR)
    if name is not None and not store.rating_queue.handed_over_left(rater):
        del st.session_state[_RATED_FOR]
        st.switch_page(OVERVIEW_PAGE, query_params={"iteration": name})


def take_picked(store: Store, rater: str) -> None:
    """Puts the game in the URL on the desk, before what the queue has; one rated before, with what was given.

    It stays in the URL until it is saved, skipped or put aside, so that a reload finds it on the desk again.
    """
    wanted = state.chosen(state.GAME)
    desk = desk_state.desk_of(rater)
    if wanted is None:
        if desk.is_linked and desk.data is not None:
            # The browser's "back" from that game.
            desk.left, desk.data = desk.data["token"], None
        return
    try:
        game = game_called(store, wanted)
        if desk.transcript_id == game and desk.data is not None:
            return
        if any(aside.transcript_id == game for aside in store.discards.of(rater)):
            st.info("You marked that game as one that cannot be rated. My ratings takes it back.")
            return
        _take(store, desk, game)
    except (NotFoundError, ConflictError):
        st.warning("That game is not here any more. Here is the next one of your queue.")
        state.choose(game=None)


def _take(store: Store, desk: desk_state.DeskState, wanted: str) -> None:
    given = next((one for one in store.ratings.by_rater(desk.rater) if one.transcript_id == wanted), None)
    if given is None:
        desk_state.take(store, desk, wanted, _WORDS, RATE)
    else:
        desk_state.take(store, desk, wanted, desk_state.given_words(given), REVISE, given=given)
    desk.is_linked = True
