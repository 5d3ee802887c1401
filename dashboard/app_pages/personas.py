import streamlit as st

from dashboard import personas, resources
from dashboard.components import persona_editor, persona_parts, run_panel
from dashboard.components.messages import empty_state
from dashboard.components.sample_button import first_steps

SCORES, PROPOSITIONS, PERSONA, RUN = "Scores", "Propositions", "Persona", "Run"


def show() -> None:
    store = resources.store()
    found = resources.read(personas.people)
    if not found:
        empty_state("No agents yet", "Agents are whoever speaks in a game. Upload games first.")
        first_steps("personas")
        return

    run_panel.progress(store)
    persona_parts.agents_table(found)
    person = persona_parts.choose(found)
    view = st.segmented_control(
        "View",
        [SCORES, PROPOSITIONS, PERSONA, RUN],
        default=SCORES,
        required=True,
        key="persona_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == RUN:
        run_panel.run_panel(store, found, person)
    elif view == PROPOSITIONS:
        persona_editor.proposition_editor(store, person)
    elif view == PERSONA:
        persona_editor.persona_form(store, person)
    else:
        persona_parts.scores(person)


show()
