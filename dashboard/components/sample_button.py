"""What an empty page offers: the sample games, or the way to the Upload page."""

from __future__ import annotations

import streamlit as st

from dashboard import identity, jobs, resources
from evaluation.access import Action


def first_steps(page: str) -> None:
    """Two buttons below an empty state; ``page`` keeps the keys of several pages apart."""
    if not identity.allowed(Action.ADD):
        st.caption("Whoever runs this dashboard adds them.", text_alignment="center")
        return
    running = jobs.running(resources.store(), "samples")
    if running is not None:
        st.caption("The first games are on their way; this page fills by itself.", text_alignment="center")
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center"):
        if st.button(
            "Load the sample games",
            icon=":material/playlist_add:",
            type="primary",
            key=f"samples_{page}",
            disabled=running is not None,
        ):
            jobs.start_samples(resources.store())
            st.rerun()
        if page != "upload":
            st.page_link("app_pages/upload.py", label="Upload your own games", icon=":material/upload_file:")
