"""Empty pages: what to do first, with the buttons that do it."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.notices import empty_state
from dashboard.shared.page_links import add_games_link, guide_link
from evaluation.access import Action


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
        guide_link("How it works", icon=":material/help:")
