"""The "Verdicts to check" page: the queue of ledger rows that a person should check, and why messages fail."""

import streamlit as st

from dashboard.app_pages.verdicts.queue import review_queue
from dashboard.app_pages.verdicts.why_messages_fail import why_messages_fail
from dashboard.shared import resources, state
from dashboard.shared.changes.actions import show_outcome
from dashboard.shared.first_run import first_steps
from dashboard.shared.marks.pictures import open_clicked_mark
from dashboard.shared.notices import empty_state
from evaluation.workflows.boards import iteration_names

QUEUE = "Verdicts to check"
_LAST_VIEW = "verdicts_last_view"


def show() -> None:
    store = resources.store()
    open_clicked_mark(store)
    show_outcome(store)
    if not store.transcripts.ids():
        empty_state("No games yet", "Verdicts that a person should look at are found once games are scored.")
        first_steps("verdicts")
        return
    # The way back from a message leads to the same view.
    view = state.choose_view(
        [QUEUE, state.WHY], key=state.VERDICTS_VIEW, default=st.session_state.get(_LAST_VIEW, QUEUE)
    )
    st.session_state[_LAST_VIEW] = view
    if view == state.WHY:
        why_messages_fail()
        return
    st.markdown(
        "Rows of which rule and reader are unsure, or that they left open. One key decides: **y** it "
        "counts, **n** it does not, **x** leave it out, **s** skip, **u** undo."
    )
    review_queue(store, resources.read(iteration_names))


show()
