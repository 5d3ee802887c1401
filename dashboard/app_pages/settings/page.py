"""The page of settings and help."""

import streamlit as st

from dashboard.app_pages.settings import forms as parts
from dashboard.app_pages.settings.guide import guide
from dashboard.shared import resources, state
from dashboard.shared.database_panel import database

if state.choose_view([state.SETTINGS, state.GUIDE], key=state.HELP_VIEW) == state.GUIDE:
    guide()
else:
    store = resources.store()
    with st.container(width=parts.WIDTH, gap="medium"):
        changed = []
        for number, section in enumerate((parts.judge_settings, parts.thresholds, database)):
            with st.container(key=f"settings_section_{number}"):
                changed.append(section(store))
        with st.expander("Import limits"):
            changed.append(parts.limits(store))
        parts.save_changes(store, [*filter(None, changed)])
