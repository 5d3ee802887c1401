"""The page of settings and help."""

import streamlit as st

from dashboard.app_pages.settings import forms as parts
from dashboard.app_pages.settings.forms import judge_settings
from dashboard.app_pages.settings.guide import guide
from dashboard.shared import resources, state
from dashboard.shared.database_panel import database

if state.choose_view([state.SETTINGS, state.GUIDE], key=state.HELP_VIEW) == state.GUIDE:
    guide()
else:
    store = resources.store()
    parts.tell_what_was_saved()
    for section in (parts.thresholds, judge_settings, database, parts.test_size):
        with st.container(border=True):
            section(store)
    with st.expander("Import limits"):
        parts.limits(store)
