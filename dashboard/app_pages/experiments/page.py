"""The Experiments page: runs, A/B tests and Table 1, with the forms that start them."""

import streamlit as st

from dashboard.app_pages.experiments import data, runs, start, table1
from dashboard.shared import resources, state
from dashboard.shared.notices import empty_state

RUNS, TABLE1, AB_TESTS = "Runs", "The paper", "A/B tests"
FORM, AB_FORM = "start", "start_ab"


def show() -> None:
    store = resources.store()
    view = state.choose_view([RUNS, AB_TESTS, TABLE1], key="experiments_view")
    if view == AB_TESTS:
        tests = resources.read(data.ab_tests)
        runs.ab_view(store, tests)
        form = st.expander("Run an A/B test", expanded=not tests, key=AB_FORM, on_change="rerun", bind="query-params")
        if form.open:
            with form:
                start.ab_form(store)
        return
    found = resources.read(data.shown_runs)
    if view == TABLE1:
        table1.table1(found)
        return
    if found:
        runs.run_view(store, runs.choose(found))
    else:
        empty_state(
            "No experiments yet",
            "An experiment lets the same agents talk twice, with corrections and without, and compares how they hold "
            "their character.",
        )
        start.load_experiment(store)
    form = st.expander("Run an experiment", expanded=not found, key=FORM, on_change="rerun", bind="query-params")
    if form.open:
        with form:
            start.start_form(store)


show()
