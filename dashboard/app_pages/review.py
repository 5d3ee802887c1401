import streamlit as st

from dashboard import identity, resources
from dashboard.components import review_parts as parts
from dashboard.components.messages import empty_state
from dashboard.components.own_ratings import own_ratings
from dashboard.components.picked_game import take_handed_over, take_picked
from dashboard.components.practice_parts import practice
from dashboard.components.rating_guide_parts import invitation, rating_guide
from dashboard.components.rating_records import records
from dashboard.components.sample_button import first_steps
from dashboard.components.style_parts import style_check
from evaluation.access import Action
from evaluation.errors import StoreError


def show() -> None:
    store = resources.store()
    rater = identity.rater_name()
    if rater is None:
        parts.ask_for_name()
        return

    view = st.segmented_control(
        "View",
        parts.VIEWS,
        default=parts.DESK,
        required=True,
        key=parts.VIEW,
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == parts.DESK:
        try:
            take_handed_over(store, rater)
            progress = store.ratings.progress(rater)
            if progress.total:
                take_picked(store, rater)
                parts.desk(store, rater, progress, lowered=invitation(store, rater, progress))
        except StoreError as error:
            if not parts.desk_as_it_was(store, rater, error):
                raise
            return
        if progress.total:
            return
        if identity.allowed(Action.ADD):
            empty_state("Nothing to rate yet", "Upload games first; then rate them here one by one.")
            first_steps("review")
        else:
            empty_state(
                "Nothing to rate yet", "Ask an admin to add games. Until then you can read how to rate, and practise."
            )
    elif view == parts.OWN:
        own_ratings(store, rater)
    elif view == parts.GUIDE:
        rating_guide()
    elif view == parts.PRACTICE:
        practice(store, rater)
    elif view == parts.STYLE:
        style_check(store, rater)
    else:
        records(store, rater)


show()
