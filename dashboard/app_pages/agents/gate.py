"""Outcomes of the gate, its messages, and its settings for each agent."""

import streamlit as st

from dashboard.app_pages.agents import gate_data as data
from dashboard.app_pages.agents import gate_outcomes as parts
from dashboard.app_pages.agents.gate_settings import settings_form
from dashboard.shared import resources, state

OUTCOMES, MESSAGES, SETTINGS = "Outcomes", "Messages", "Settings"


def gate() -> None:
    """Draw the outcomes of the gate, its messages or its settings."""
    store = resources.store()
    view = state.choose_view([OUTCOMES, MESSAGES, SETTINGS], key="corrections_view")
    if view == SETTINGS:
        settings_form(store)
        return

    checked = resources.read(data.agents_checked)
    if not any(checked.values()):
        parts.nothing_checked()
        st.button(
            "Choose what is checked",
            icon=":material/tune:",
            key="to_settings",
            on_click=lambda: st.session_state.update(corrections_view=SETTINGS),
        )
        return

    looked = parts.looked_at(parts.choose_agent([agent for agent, count in checked.items() if count]))
    if view == MESSAGES:
        parts.messages(looked)
    else:
        parts.outcomes(looked)
