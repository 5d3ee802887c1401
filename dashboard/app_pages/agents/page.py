"""The Agents page: profiles, claims, the gate's checks, and runs side by side."""

from dashboard.app_pages.agents import persona_form, propositions, run_panel, scores
from dashboard.app_pages.agents.gate import gate
from dashboard.app_pages.agents.run_comparison import compare_runs
from dashboard.shared import personas, resources, state
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state


def show() -> None:
    store = resources.store()
    view = state.choose_view([state.PROFILES, state.CLAIMS, state.CHECKS, state.RUNS], key=state.AGENTS_VIEW)
    run_panel.progress(store)
    if view == state.CHECKS:
        gate()
        return
    if view == state.RUNS:
        compare_runs()
        return
    found = resources.read(personas.people)
    if not found:
        empty_state("No agents yet", "Agents are the speakers in games. Upload games first.")
        first_steps("agents")
        return
    if view == state.CLAIMS:
        person = scores.choose(found)
        propositions.propositions(person)
        persona_form.persona_form(store, person)
        return
    scores.agents_table(found)
    person = scores.choose(found)
    scores.scores(person)
    run_panel.run_panel(store, found, person)


show()
