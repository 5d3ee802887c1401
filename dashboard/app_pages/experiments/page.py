"""The Experiments page: runs, A/B tests and Table 1, with the forms that start them."""

from dashboard.app_pages.experiments import data, runs, start
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
        with state.linked_box("Run an A/B test", AB_FORM, expanded=not tests) as is_open:
            if is_open:
                start.ab_form(store)
        return
    found = resources.read(data.shown_runs)
    if view == TABLE1:
        runs.table1(found)
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
    with state.linked_box("Run an experiment", FORM, expanded=not found) as is_open:
        if is_open:
            start.start_form(store)


show()
