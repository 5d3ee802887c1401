import streamlit as st

from dashboard import experiments, resources
from dashboard.components import experiment_parts, experiment_start, table1_parts
from dashboard.components.messages import empty_state

RUNS, TABLE1, AB_TESTS, SCENARIOS, START = "Runs", "Table 1", "A/B tests", "Scenarios", "New run"

store = resources.store()
found = resources.read(experiments.shown_runs)
if wanted := st.session_state.pop("experiments_wanted", None):
    st.session_state["experiments_view"] = wanted
view = st.segmented_control(
    "View",
    [RUNS, TABLE1, AB_TESTS, SCENARIOS, START],
    default=RUNS,
    required=True,
    key="experiments_view",
    bind="query-params",
    label_visibility="collapsed",
)
if view == START:
    experiment_start.start_form(store)
elif view == TABLE1:
    table1_parts.table1(found)
elif view == AB_TESTS:
    experiment_parts.ab_view(resources.read(experiments.ab_tests))
elif view == SCENARIOS:
    experiment_parts.scenarios_table()
elif found:
    experiment_parts.run_view(store, experiment_parts.choose(found))
else:
    empty_state(
        "No experiments yet",
        "An experiment lets the same agents talk twice, with corrections and without, and compares how they hold their "
        "character. Try one with the script, which needs no key.",
    )
    experiment_start.start_form(store)
