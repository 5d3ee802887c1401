import streamlit as st

from dashboard import resources
from dashboard.components.mending import show_outcome
from dashboard.components.messages import empty_state
from dashboard.components.review_queue_parts import review_queue
from dashboard.components.sample_button import first_steps
from evaluation.store.reports import iteration_names


def show() -> None:
    store = resources.store()
    show_outcome(store)
    if store.transcripts.summaries().empty:
        empty_state("No games yet", "Verdicts that a person should look at are found once games are scored.")
        first_steps("verdicts")
        return
    st.markdown(
        "Rows that only the rule has decided, and that a person may well decide otherwise. One key decides: **y** it "
        "counts, **n** it does not, **x** leave it out, **s** skip, **u** undo."
    )
    review_queue(store, resources.read(iteration_names))


show()
