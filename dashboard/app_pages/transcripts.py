import streamlit as st

from dashboard import queries, resources, state
from dashboard.components import transcript_list
from dashboard.components.messages import empty_state, plain
from dashboard.components.sample_button import first_steps
from dashboard.components.transcript_view import transcript_view
from evaluation.errors import NotFoundError

wanted = state.chosen(state.TRANSCRIPT)
if wanted is None:
    listed = resources.read(queries.transcript_list)
    if listed.empty:
        empty_state(
            "No games to read yet",
            "Upload games to see every message with what each metric made of it.",
        )
        first_steps("transcripts")
        st.stop()
    transcript_list.draw(listed)
    st.stop()

try:
    opened = resources.share(queries.open_transcript, wanted)
except NotFoundError as error:
    st.warning("That transcript is not here. It may have been deleted, or the link is incomplete.")
    plain(str(error))
    st.page_link("app_pages/transcripts.py", label="All transcripts", icon=":material/arrow_back:")
    st.stop()
transcript_view(opened)
