"""The Experiments page: runs, Table 1, A/B tests, scenarios, and the forms that start them."""

import streamlit as st

from dashboard.app_pages.experiments import data, runs, start_ab_test, start_run, table1
from dashboard.shared import resources, state
from dashboard.shared.notices import empty_state

RUNS, TABLE1, AB_TESTS, SCENARIOS = "Runs", "Table 1", "A/B tests", "Scenarios"
START, START_AB = "Run an experiment", "Run an A/B test"

store = resources.store()
found = resources.read(data.shown_runs)
if wanted := st.session_state.pop("experiments_wanted", None):
    st.session_state["experiments_view"] = wanted
view = state.choose_view([RUNS, AB_TESTS, TABLE1, SCENARIOS, START, START_AB], key="experiments_view")
if view == START:
    start_run.start_form(store)
elif view == START_AB:
    start_ab_test.ab_form(store)
elif view == TABLE1:
    table1.table1(found)
elif view == AB_TESTS:
    runs.ab_view(store, resources.read(data.ab_tests))
elif view == SCENARIOS:
    runs.scenarios_table()
elif found:
    runs.run_view(store, runs.choose(found))
else:
    empty_state(
        "No experiments yet",
        "An experiment lets the same agents talk twice, with corrections and without, and compares how they hold their "
        "character.",
    )
    start_run.load_example(store)
    st.subheader(START, anchor=False)
    start_run.start_form(store)
