"""Keep what others gave out of sight of a rater whose own queue is not done."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from evaluation.store import Store
from evaluation.text.display import counted

_OPENED = "ratings_of_others_opened"


def is_closed(store: Store) -> bool:
    """Whether this visitor is asked to finish rating first; if so, says why and offers to open it all the same.

    With a login, raters do not reach pages that show what others gave, and leads are not asked. Without one, whoever
    has begun to rate under a name is asked; that is a request and no lock, and the page says so.
    """
    person = identity.current_person()
    if person is None or person.is_signed_in or not person.name or st.session_state.get(_OPENED) == person.name:
        return False
    progress = store.rating_queue.progress(person.name)
    if progress.is_done or not (progress.rated or progress.assigned):
        return False
    left = progress.waiting + progress.again or progress.left
    st.info(
        f"Your queue is not done: {counted(left, 'game')} to go. What others gave would sway you, so please finish "
        "first.",
        icon=":material/visibility_off:",
    )
    st.markdown(
        "Without a login this is a request, not a lock: everybody who reaches this dashboard may open it. With a login "
        "it stays closed to raters until their queue is done."
    )
    with st.container(horizontal=True):
        st.page_link("app_pages/review/page.py", label="Go to the desk", icon=":material/rate_review:")
        st.button("Show it all the same", key="open_ratings", on_click=_open, args=(person.name,))
    return True


def _open(name: str) -> None:
    st.session_state[_OPENED] = name
