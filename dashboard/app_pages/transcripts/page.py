"""The Transcripts page: the list of games, search in messages, and one game with its ledgers."""

import pandas as pd
import streamlit as st

from dashboard.app_pages.transcripts.game_list import ORDERS, filtered, games_table, ordered, pick_filters
from dashboard.app_pages.transcripts.game_view import transcript_view
from dashboard.app_pages.transcripts.message_search import found_messages
from dashboard.app_pages.transcripts.rename_move_delete import edit_transcript
from dashboard.shared import queries, resources, state
from dashboard.shared.changes.actions import recently_deleted, show_outcome
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.version_notes import outdated_note, versions_banner
from evaluation.errors import NotFoundError
from evaluation.store import Store


def show(store: Store) -> None:
    show_outcome(store)
    wanted = state.chosen(state.TRANSCRIPT)
    if wanted is not None:
        one_game(store, wanted)
        return
    listed = resources.read(queries.transcript_list)
    if listed.empty:
        empty_state(
            "No games to read yet",
            "Upload games to see every message with what each metric made of it.",
        )
        first_steps("transcripts")
    else:
        all_games(store, listed)
    recently_deleted(store)


def all_games(store: Store, listed: pd.DataFrame) -> None:
    versions_banner(store)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Search what was said",
            key="search",
            bind="query-params",
            icon=":material/search:",
            placeholder='Words in any order, or "a phrase in quotes"',
        )
        order = st.selectbox(
            "Order of games", list(ORDERS), key="order", bind="query-params", format_func=ORDERS.__getitem__
        )
        filters = pick_filters(listed)
    shown = filtered(listed, filters)
    if query and query.strip():
        if filters.count:
            st.caption(f"Only in the {len(shown):,} of {len(listed):,} games that the filters leave.")
        found_messages(query, tuple(shown["transcript_id"]) if filters.count else None)
    else:
        games_table(ordered(shown, order), len(listed))


def one_game(store: Store, wanted: str) -> None:
    try:
        opened = resources.share(queries.open_transcript, wanted)
    except NotFoundError as error:
        st.warning("That transcript is not here. It may have been deleted, or the link is incomplete.")
        plain(str(error))
        st.page_link("app_pages/transcripts/page.py", label="All transcripts", icon=":material/arrow_back:")
        return
    outdated_note(store, opened.results)
    transcript_view(opened)
    edit_transcript(opened)


show(resources.store())
