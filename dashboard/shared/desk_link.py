"""Links to the Review page: to the desk on one game or on an iteration's games, and to the team's view."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import state
from dashboard.shared.identity import identity
from evaluation.access.roles import Action

VIEW = "desk"
"""The key, and query parameter, of the Review page's view."""

DESK = "Rate"
TEAM = "Team"
HANDED_OVER = "rating_handover"


def desk_link(transcript_id: str, label: str = "Rate it at the desk") -> None:
    """A link that opens the desk on that game, outside the order of the queue."""
    st.page_link(
        "app_pages/review/page.py",
        label=label,
        icon=":material/rate_review:",
        query_params={VIEW: DESK, state.GAME: transcript_id},
    )


def hand_over(name: str) -> None:
    """A button that opens the desk on an iteration's games and its reference's first, mixed.

    It is not a link: the desk takes no iteration from an address, and never shows that there is one.
    """
    if st.button("Rate the next one", key="rate_next", icon=":material/arrow_forward:", type="primary"):
        st.session_state[HANDED_OVER] = name
        st.switch_page("app_pages/review/page.py")


def team_link() -> None:
    """A link to the Review page's view of raters by games, for those who lead."""
    if identity.allowed(Action.EDIT):
        st.page_link(
            "app_pages/review/page.py",
            label="Who rates what?",
            icon=":material/groups:",
            query_params={VIEW: TEAM},
        )
