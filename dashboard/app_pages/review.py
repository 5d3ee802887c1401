import streamlit as st

from dashboard import identity, queries, resources
from dashboard.components import review_parts as parts
from dashboard.components.messages import empty_state
from dashboard.components.sample_button import first_steps

store = resources.store()
rater = identity.rater_name()
if rater is None:
    parts.ask_for_name()
    st.stop()

progress = resources.read(queries.rating_progress, rater)
if not progress.total:
    empty_state("Nothing to rate yet", "Upload games first; then rate them here one by one.")
    first_steps("review")
    st.stop()

view = st.segmented_control(
    "View",
    [parts.DESK, parts.OWN],
    default=parts.DESK,
    required=True,
    key="desk",
    bind="query-params",
    label_visibility="collapsed",
)
if view == parts.DESK:
    parts.desk(store, rater)
else:
    parts.own_ratings(store, rater)
