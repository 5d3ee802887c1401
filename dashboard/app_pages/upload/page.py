"""The address of adding games that people have kept: it leads to that part of the Games page."""

import streamlit as st

from dashboard.shared import state

st.switch_page("app_pages/transcripts/page.py", query_params={state.GAMES_PART: state.ADD_GAMES})
