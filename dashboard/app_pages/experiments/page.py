"""The Experiments page: runs, A/B tests and Table 1, with the forms that start them."""

import streamlit as st

from dashboard.app_pages.experiments import data, runs, start
from dashboard.shared import resources, state
from dashboard.shared.clicked_marks import open_clicked_mark
from dashboard.shared.notices import empty_state
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT

_FORMS = {
    EXPERIMENT: ("Run an experiment", runs.START, start.start_form),
    AB_TEST: ("Run an A/B test", "start_ab", start.ab_form),
}
RUNS, TABLE1, AB_TESTS = "Runs", "The paper", "A/B tests"


def show() -> None:
    store = resources.store()
    open_clicked_mark(store)
    view = state.choose_view([RUNS, AB_TESTS, TABLE1], key="experiments_view")
    kind = AB_TEST if view == AB_TESTS else EXPERIMENT
    found = resources.read(data.shown_studies, kind)
    if view == TABLE1:
        runs.table1(found)
        return
    label, key, draw = _FORMS[kind]
    is_asked = bool(st.session_state.get(key)) or state.chosen(key) == "true"
    if is_asked or not found:
        with state.linked_box(label, key, expanded=not found) as is_open:
            if is_open:
                draw(store)
    if found:
        runs.study_view(store, runs.choose(found, kind), "" if is_asked else label, key)
    elif kind == AB_TEST:
        empty_state(
            "No A/B tests yet",
            "An A/B test compares variants of a configuration on the same measures. Start one here, or with "
            "`dramaturg ab CONFIG`.",
        )
    else:
        empty_state(
            "No experiments yet",
            "An experiment lets the same agents talk twice, with corrections and without, and compares how they hold "
            "their character.",
        )
        start.load_experiment(store)


show()
