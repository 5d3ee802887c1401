"""The "Verdicts to check" page: the queue of ledger rows that a person should check."""

import streamlit as st

from dashboard.app_pages.verdicts.queue import review_queue
from dashboard.shared import resources
from dashboard.shared.changes.actions import show_outcome
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state
from evaluation.workflows.reports import iteration_names


def show() -> None:
    store = resources.store()
    show_outcome(store)
    if not store.transcripts.ids():
        empty_state("No games yet", "Verdicts that a person should look at are found once games are scored.")
        first_steps("verdicts")
        return
    st.markdown(
        "Rows that only the rule has decided, and that a person may well decide otherwise. One key decides: **y** it "
        "counts, **n** it does not, **x** leave it out, **s** skip, **u** undo."
    )
    review_queue(store, resources.read(iteration_names))


show()
