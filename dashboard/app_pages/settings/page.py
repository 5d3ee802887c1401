"""The Settings page: thresholds, test size, limits, the judge and the database."""

import streamlit as st

from dashboard.app_pages.settings import forms as parts
from dashboard.app_pages.settings.forms import judge_settings
from dashboard.shared import resources
from dashboard.shared.database_panel import database

store = resources.store()
parts.tell_what_was_saved()
for section in (parts.thresholds, parts.test_size, parts.limits, judge_settings, database):
    with st.container(border=True):
        section(store)
with st.container(border=True):
    parts.appearance()
