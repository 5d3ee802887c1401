"""Links from one page to another, and what an empty page says to do first."""

from __future__ import annotations

import shlex

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.notices import empty_state
from evaluation.access import Action
from evaluation.text.display import counted

OVERVIEW_PAGE = "app_pages/overview/page.py"
GAMES_PAGE = "app_pages/games/page.py"
RATE_PAGE = "app_pages/rate/page.py"
TEAM_PAGE = "app_pages/team/page.py"
AGENTS_PAGE = "app_pages/agents/page.py"
HELP_PAGE = "app_pages/settings/page.py"

VIEW = "desk"
"""The key, and query parameter, of the Rate page's view."""

DESK, OWN, HOW_TO_RATE, STYLE = DESK_VIEWS = "Rate", "My ratings", "How to rate", "Who speaks?"
HANDED_OVER = "rating_handover"


def add_games_link(label: str, **parameters: str) -> None:
    """A link to adding games; ``parameters`` are others of its address."""
    st.page_link(GAMES_PAGE, label=label, query_params={state.GAMES_PART: state.ADD_GAMES, **parameters})


def rate_link(label: str) -> None:
    """A link to the desk."""
    st.page_link(RATE_PAGE, label=label)


def guide_link(label: str, view: str | None = None) -> None:
    """A link to the guide, to one of its views where ``view`` says so."""
    query = {state.HELP_VIEW: state.GUIDE, **({state.GUIDE_VIEW: view} if view else {})}
    st.page_link(HELP_PAGE, label=label, query_params=query)


def gate_commands(reference: str, name: str) -> str:
    """The commands that add games to an iteration and fail where they are worse than those of its reference."""
    before, after = map(shlex.quote, (reference, name))
    return f"dramaturg import games/ --iteration {after}\ndramaturg compare {before} {after} --gate"


def hand_over(name: str, waiting: int) -> None:
    """A button that opens the desk on the games that hold up a decision, mixed with one that does not.

    It is not a link: the desk takes no iteration from an address, and never shows that there is one.

    Args:
        name: Of the iteration.
        waiting: How many of its games and of its reference's nobody has rated.
    """
    if st.button(
        f"Rate {counted(waiting, 'game')}, with a decoy",
        key="rate_next",
        icon=":material/arrow_forward:",
        type="primary",
        help="A game of the reference is among them where it has one, so that you cannot tell which is which. "
        "Your ratings count for both. When you are done, you are back here.",
    ):
        st.session_state[HANDED_OVER] = name
        # With none given it would refuse to leave parameters that widgets are bound to, such as an open box.
        st.switch_page(RATE_PAGE, query_params={})


def team_link() -> None:
    """A link to the table of raters by games, for those who lead."""
    if identity.allowed(Action.EDIT):
        st.page_link(TEAM_PAGE, label="Who rates what?")


def transcript_link(label: str, **parameters: str) -> None:
    """A link to the Games page; ``parameters`` are those of its address."""
    st.page_link(GAMES_PAGE, label=label, query_params=parameters)


def no_games_yet(page: str, title: str, text: str) -> None:
    """The whole of a page without games: a title, a text and two buttons, or that games are being loaded right now."""
    if jobs.running(resources.store(), "samples") is not None:
        empty_state("Games are being loaded", "This page fills by itself when the first ones are in.")
        return
    empty_state(title, text)
    first_steps(page)


def first_steps(page: str) -> None:
    """Two buttons below an empty state; ``page`` keeps the keys of several pages apart."""
    if not identity.allowed(Action.ADD):
        st.caption("Whoever runs this dashboard adds them.", text_alignment="center")
        return
    running = jobs.running(resources.store(), "samples")
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center"):
        if st.button(
            "Load the sample games",
            icon=":material/playlist_add:",
            type="primary",
            key=f"samples_{page}",
            disabled=running is not None,
        ):
            jobs.start(resources.store(), jobs.SAMPLES)
            st.rerun()
        if page != "upload":
            add_games_link("Upload your own games")
        guide_link("How it works")
