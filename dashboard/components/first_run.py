"""The way in for somebody who has just started: three steps, each with a link."""

from __future__ import annotations

import streamlit as st

_STEPS = (
    (
        "1. Bring your games",
        "Drop the transcripts of one prompt version on the Upload page. Many formats are recognised; the guide shows "
        "the shape to write if yours is not.",
        "app_pages/upload.py",
        "Upload games",
    ),
    (
        "2. Rate them blind",
        "Six metrics are computed. The seventh, engagement, is a person's: read a game on the Review page and rate it "
        "from 1 to 5.",
        "app_pages/review.py",
        "Rate games",
    ),
    (
        "3. Change one thing",
        "The Overview names the lowest metric and what to change. Play three games with the change, upload them as a "
        "new iteration, and it says keep or revert.",
        "app_pages/overview.py",
        "See the overview",
    ),
)


def first_run_guide() -> None:
    """Three cards that say what to do first, second and third, and a link to the shape of a transcript."""
    with st.expander("How it goes, in three steps", expanded=True, icon=":material/signpost:"):
        grid = st.grid(3, min_column_width=240)
        for title, text, page, label in _STEPS:
            with grid.cell():
                st.markdown(f"**{title}**")
                st.markdown(text)
                st.page_link(page, label=label, icon=":material/arrow_forward:")
        st.page_link("app_pages/guide.py", label="Write your transcripts in this shape", icon=":material/description:")
