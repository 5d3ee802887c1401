"""The first steps for new users: three steps, each with a link."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.notices import empty_state
from dashboard.shared.page_links import add_games_link, guide_link, rate_link
from evaluation.access import Action

_STEPS = (
    (
        "1. Bring your games",
        "Drop the transcripts of one prompt version on the Games page. Many formats are recognised; the guide shows "
        "the shape to write if yours is not.",
        add_games_link,
        "Upload games",
    ),
    (
        "2. Rate them blind",
        "Six metrics are computed. The seventh, engagement, is a person's: read a game on the Rate page and rate it "
        "from 1 to 5.",
        rate_link,
        "Rate games",
    ),
    (
        "3. Change one thing",
        "The Overview names the lowest metric and what to change. Play three games with the change and upload them as "
        "a new iteration: the Overview then says whether to keep or to revert the change.",
        None,
        "",
    ),
)


def first_run_guide() -> None:
    """Three cards that say what to do first, second and third, and a link to the shape of a transcript."""
    with st.expander("How it goes, in three steps", expanded=True, icon=":material/signpost:"):
        grid = st.grid(3, min_column_width=240)
        for title, text, link, label in _STEPS:
            with grid.cell():
                st.markdown(f"**{title}**")
                st.markdown(text)
                if link is not None:
                    link(label, ":material/arrow_forward:")
        guide_link("Write your transcripts in this shape", state.FORMATS)


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
