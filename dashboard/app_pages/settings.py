import streamlit as st

from dashboard import resources
from dashboard.components import settings_parts as parts
from dashboard.components.database_parts import database
from dashboard.components.judge_settings import judge_settings

store = resources.store()
parts.tell_what_was_saved()
for section in (parts.thresholds, parts.test_size, parts.limits, judge_settings, database):
    with st.container(border=True):
        section(store)
with st.container(border=True):
    parts.appearance()
