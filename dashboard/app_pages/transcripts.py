import streamlit as st

from dashboard import queries, resources, state
from dashboard.components.found_messages import found_messages
from dashboard.components.mend_transcript import mend_transcript
from dashboard.components.mending import recently_deleted, show_outcome
from dashboard.components.messages import empty_state, plain
from dashboard.components.sample_button import first_steps
from dashboard.components.transcript_list import ORDERS, filtered, games_table, ordered, pick_filters
from dashboard.components.transcript_view import transcript_view
from dashboard.components.version_notes import outdated_note, versions_banner
from evaluation.errors import NotFoundError

show_outcome(resources.store())
wanted = state.chosen(state.TRANSCRIPT)
if wanted is None:
    listed = resources.read(queries.transcript_list)
    if listed.empty:
        empty_state(
            "No games to read yet",
            "Upload games to see every message with what each metric made of it.",
        )
        first_steps("transcripts")
        recently_deleted(resources.store())
        st.stop()
    versions_banner(resources.store())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Search what was said",
            key="search",
            bind="query-params",
            icon=":material/search:",
            placeholder='Words in any order, or "a phrase in quotes"',
        )
        order = st.selectbox("Order of games", list(ORDERS), key="order", bind="query-params", format_func=ORDERS.get)
        filters = pick_filters(listed)
    shown = filtered(listed, filters)
    if query and query.strip():
        if filters.count:
            st.caption(f"Only in the {len(shown):,} of {len(listed):,} games that the filters leave.")
        found_messages(query, tuple(shown["transcript_id"]) if filters.count else None)
    else:
        games_table(ordered(shown, order), len(listed))
    recently_deleted(resources.store())
    st.stop()

try:
    opened = resources.share(queries.open_transcript, wanted)
except NotFoundError as error:
    st.warning("That transcript is not here. It may have been deleted, or the link is incomplete.")
    plain(str(error))
    st.page_link("app_pages/transcripts.py", label="All transcripts", icon=":material/arrow_back:")
    st.stop()
outdated_note(resources.store(), opened.results)
transcript_view(opened)
mend_transcript(opened)
