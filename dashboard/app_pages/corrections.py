import streamlit as st

from dashboard import corrections, resources
from dashboard.components import correction_parts as parts
from dashboard.components.correction_settings import settings_form

OUTCOMES, MESSAGES, SETTINGS = "Outcomes", "Messages", "Settings"


def show() -> None:
    store = resources.store()
    view = st.segmented_control(
        "View",
        [OUTCOMES, MESSAGES, SETTINGS],
        default=OUTCOMES,
        required=True,
        key="corrections_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == SETTINGS:
        settings_form(store)
        return

    checked = resources.read(corrections.agents_checked)
    if not any(checked.values()):
        parts.nothing_checked(store.place)
        st.button(
            "Choose what is checked",
            type="primary",
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


show()
