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
    with st.container(width=parts.WIDTH, gap="medium"):
        for number, section in enumerate((judge_settings, parts.thresholds, parts.test_size, database)):
            with st.container(key=f"settings_section_{number}"):
                section(store)
        with st.expander("Import limits"):
            parts.limits(store)
