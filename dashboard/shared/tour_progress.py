"""Progress in the Guide's tour: kept in the session, and in the Guide's address."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import state

_STEP = "tour_step"
_ADDRESS = "tour"


def reached(count: int) -> int | None:
    """The step from 1 that the reader has reached, from the address where it names one; ``None`` outside the tour.

    Args:
        count: How many steps there are.
    """
    linked = state.chosen(_ADDRESS, [str(step) for step in range(1, count + 1)])
    if linked is not None:
        st.session_state[_STEP] = int(linked)
    found = st.session_state.get(_STEP)
    if isinstance(found, int):
        state.choose(**{_ADDRESS: str(found)})
        return found
    return None


def go_to(step: int | None) -> None:
    """Goes to a step; ``None`` leaves the tour."""
    if step is None:
        st.session_state.pop(_STEP, None)
    else:
        st.session_state[_STEP] = step
    state.choose(**{_ADDRESS: None if step is None else str(step)})


def way_back() -> None:
    """In the sidebar: a link to the tour while it is under way."""
    found = st.session_state.get(_STEP)
    if isinstance(found, int):
        st.sidebar.page_link(
            "app_pages/guide/page.py",
            label=f"Tour: back to step {found}",
            icon=":material/tour:",
            query_params={_ADDRESS: str(found)},
        )
