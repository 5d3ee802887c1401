"""The Personas page: scores, propositions, the persona, and new evaluations of agents."""

from dashboard.app_pages.personas import persona_form, propositions, run_panel, scores
from dashboard.shared import personas, resources, state
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state

SCORES, PROPOSITIONS, PERSONA, RUN = "Scores", "Propositions", "Persona", "Run"


def show() -> None:
    store = resources.store()
    found = resources.read(personas.people)
    if not found:
        empty_state("No agents yet", "Agents are the speakers in games. Upload games first.")
        first_steps("personas")
        return

    run_panel.progress(store)
    scores.agents_table(found)
    person = scores.choose(found)
    view = state.choose_view([SCORES, PROPOSITIONS, PERSONA, RUN], key="persona_view")
    if view == RUN:
        run_panel.run_panel(store, found, person)
    elif view == PROPOSITIONS:
        propositions.propositions(person)
    elif view == PERSONA:
        persona_form.persona_form(store, person)
    else:
        scores.scores(person)


show()
