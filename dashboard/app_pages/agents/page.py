"""The Agents page: profiles with their claims, the gate's checks, and runs side by side."""

from functools import partial
from pathlib import Path

import streamlit as st

from dashboard.app_pages.agents import run_panel, scores
from dashboard.app_pages.agents.gate import gate
from dashboard.app_pages.agents.persona_form import persona
from dashboard.app_pages.agents.run_comparison import compare_runs
from dashboard.shared import personas, resources, state
from dashboard.shared.notices import empty_state
from dashboard.shared.page_links import first_steps


def show() -> None:
    store = resources.store()
    st.html(Path(__file__).with_name("agents.css"))
    view = state.choose_view([state.PROFILES, state.CHECKS, state.RUNS], key=state.AGENTS_VIEW)
    if view == state.CHECKS:
        gate(store)
        return
    found = resources.read(personas.people)
    if not found:
        empty_state("No agents yet", "Agents are the speakers in games. Upload games first.")
        first_steps("agents")
        return
    with state.head():
        person = scores.choose(found)
    evaluate = partial(run_panel.evaluate, store, found, person)
    if view == state.RUNS:
        compare_runs(person, evaluate)
        return
    scores.scores(found, person, evaluate, partial(persona, store, person))


show()
