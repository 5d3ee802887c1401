"""The Experiments page: runs, A/B tests and Table 1, with the forms that start them."""

from collections.abc import Callable

import streamlit as st

from dashboard.app_pages.experiments import data, runs, start
from dashboard.shared import resources, state
from dashboard.shared.clicked_marks import open_clicked_mark
from dashboard.shared.notices import empty_state
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT
from evaluation.store import Store

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
    if kind == AB_TEST:
        form("Run an A/B test", "start_ab", start.ab_form, is_first=not found)
    else:
        form("Run an experiment", "start", start.start_form, is_first=not found)
    if found:
        runs.study_view(store, runs.choose(found, kind))
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


def form(label: str, key: str, draw: Callable[[Store], object], *, is_first: bool) -> None:
    """The form that starts a run: open where there is none yet, else behind the main button beside the views."""
    if not (is_first or st.session_state.get(key) or state.chosen(key) == "true"):
        with state.head():
            st.button(label, type="primary", key=f"open_{key}", on_click=state.set_widgets, args=({key: True},))
        return
    with state.linked_box(label, key, expanded=is_first) as is_open:
        if is_open:
            draw(resources.store())


show()
