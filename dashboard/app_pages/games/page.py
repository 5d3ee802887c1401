"""The Games page: the list of games, search in messages, one game, adding games, and verdicts to check."""

import pandas as pd
import streamlit as st

from dashboard.app_pages.games.add_games import add_games
from dashboard.app_pages.games.check_verdicts import review_queue
from dashboard.app_pages.games.game_list import (
    ORDERS,
    filtered,
    found_messages,
    games_table,
    ordered,
    pick_filters,
)
from dashboard.app_pages.games.game_view import transcript_view
from dashboard.app_pages.games.ledger import show_ledger
from dashboard.app_pages.games.two_games import two_games
from dashboard.shared import queries, resources, state
from dashboard.shared.changes import recently_deleted, show_outcome
from dashboard.shared.clicked_marks import MarkTarget, address, take_clicked_mark
from dashboard.shared.game_rows import TICK, unseen_ratings_hidden
from dashboard.shared.identity.visible_games import open_game
from dashboard.shared.jobs.judging_form import reading_panel
from dashboard.shared.notices import empty_state
from dashboard.shared.version_notes import versions_banner
from evaluation.errors import ConflictError, NotFoundError
from evaluation.store import Store
from evaluation.store.transcripts import simulated
from evaluation.workflows.iterations import current, iteration_names
from evaluation.workflows.judging import stored_review_counts

_PART = "games_part"
_PARTS = (state.GAME_LIST, state.ADD_GAMES, state.CHECK_VERDICTS)


def show(store: Store) -> None:
    show_outcome(store)
    open_marked_game(store)
    wanted, beside = state.chosen(state.TRANSCRIPT), state.chosen(state.BESIDE)
    if wanted is not None and beside is not None and wanted != beside:
        side_by_side(store, wanted, beside)
        return
    if wanted is not None:
        one_game(store, wanted)
        return
    listed = resources.share(queries.transcript_list)
    if listed.empty:
        head = st.container()
        if not add_games(store):
            # While files are being looked at, their table stands where it can be seen.
            with head:
                empty_state("No games yet", "Add games to see every message with what each metric made of it.")
        recently_deleted(store)
        return
    part = pick_part()
    if part == state.ADD_GAMES:
        add_games(store)
        return
    if part == state.CHECK_VERDICTS:
        review_queue(store, resources.read(iteration_names))
        return
    all_games(store, listed)
    recently_deleted(store)


def pick_part() -> str:
    """The part of the page: what its address says, so that a link to the page shows the list again."""
    st.session_state[_PART] = _addressed()
    with state.head():
        st.segmented_control(
            "Part of the page",
            _PARTS,
            required=True,
            key=_PART,
            format_func=_part_words,
            on_change=keep_part,
            label_visibility="collapsed",
        )
    return str(st.session_state[_PART])


def _part_words(part: str) -> str:
    """The part, and how many verdicts of the current iteration there are to check."""
    name = resources.read(current) if part == state.CHECK_VERDICTS else None
    waiting = resources.read(stored_review_counts, name)[0] if name else 0
    return f"{part} ({waiting})" if waiting else part


def keep_part() -> None:
    """Writes the part that was chosen into the address."""
    # The look for jobs may come with the widgets and the address of before a game was opened: nobody chose anything.
    if st.session_state[_PART] != _addressed():
        state.choose(**{state.GAMES_PART: st.session_state[_PART]})


def _addressed() -> str:
    return state.chosen(state.GAMES_PART, _PARTS) or state.GAME_LIST


def open_marked_game(store: Store) -> None:
    """Opens the game or message that was clicked in the list; its filters stay in the address for the way back."""
    target = take_clicked_mark()
    if isinstance(target, MarkTarget) and target.metric == TICK:
        tick(str(target.transcript_id))
    elif isinstance(target, MarkTarget):
        opened = address(store, target)
        if state.VIEW in opened:
            show_ledger(target.metric)
        state.choose(**{name: opened.get(name) for name in (state.TRANSCRIPT, state.MESSAGE, state.METRIC)})


def all_games(store: Store, listed: pd.DataFrame) -> None:
    versions_banner(store)
    listed = unseen_ratings_hidden(listed)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Search what was said",
            key="search",
            bind="query-params",
            icon=":material/search:",
            placeholder='Words in any order, or "a phrase in quotes"',
        )
        order = st.selectbox(
            "Order of games",
            list(ORDERS),
            key="order",
            bind="query-params",
            format_func=ORDERS.__getitem__,
            # Messages that are found stand in the order in which they were said.
            disabled=bool(query and query.strip()),
        )
        filters = pick_filters(listed)
    shown = filtered(listed, filters)
    if query and query.strip():
        if filters.count:
            st.caption(f"Only in the {len(shown):,} of {len(listed):,} games that the filters leave.")
        found_messages(query, tuple(shown["transcript_id"]) if filters.count else None)
    else:
        games_table(ordered(shown, order), int((~simulated(listed)).sum()), is_grouped=order == "version")


def tick(transcript_id: str) -> None:
    """Ticks a game, or takes the tick away; the second that is ticked stands beside the first."""
    first = state.chosen(state.BESIDE)
    if first is None or first == transcript_id:
        state.choose(**{state.BESIDE: None if first else transcript_id})
    else:
        state.choose(**{state.TRANSCRIPT: first, state.BESIDE: transcript_id})


def not_here() -> None:
    st.warning("That game is not here. It may have been deleted, or the link is incomplete.")
    st.page_link("app_pages/games/page.py", label="All games", icon=":material/arrow_back:")


def side_by_side(store: Store, wanted: str, beside: str) -> None:
    try:
        opened = [open_game(store, one)[0] for one in (wanted, beside)]
    except (NotFoundError, ConflictError):
        not_here()
        return
    # The older version stands on the left, a game of none on the right.
    places = {name: place for place, name in enumerate(resources.read(iteration_names))}
    two_games(*sorted(opened, key=lambda one: places.get(one.iteration or "", len(places))))


def one_game(store: Store, wanted: str) -> None:
    try:
        opened, is_hidden = open_game(store, wanted)
    except (NotFoundError, ConflictError):
        not_here()
        return
    transcript_view(store, opened, is_blind=is_hidden)
    reading_panel(store, opened.transcript.id)


show(resources.store())
