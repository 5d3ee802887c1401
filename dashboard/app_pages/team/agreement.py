"""Disagreements, then raters against each other and metrics against raters."""

import streamlit as st

from dashboard.app_pages.team import raters_and_metrics as parts
from dashboard.app_pages.team.disagreements import disagreements, row_agreement
from dashboard.shared import queries, resources
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state
from evaluation.text.display import counted
from evaluation.workflows.agreement import stored_agreement


def agreement() -> None:
    """Disagreements first, then each question in a sentence with its tables folded."""
    if not resources.read(queries.transcript_ids):
        empty_state(
            "Nothing to agree about yet",
            "When two people have rated the same game, this page shows how far they agree, and whether the metrics "
            "agree with them.",
        )
        first_steps("agreement")
        return

    report = resources.read(stored_agreement)
    if not report.shared_games:
        empty_state(
            "At least two raters are needed",
            f"So far: {counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}, and no game that two "
            "people have rated. The desk hands out games with the fewest ratings first, so a second person soon meets "
            "the same games.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.page_link("app_pages/rate/page.py", label="Go to the desk", icon=":material/rate_review:")
        if report.ratings:
            parts.references(report)
        row_agreement(report)
        return

    st.info(
        "This page shows what other people gave. Who has not finished rating should not look: their ratings would no "
        "longer be their own.",
        icon=":material/visibility_off:",
    )
    with st.container(horizontal=True):
        st.badge(counted(report.raters, "rater"), color="gray")
        st.badge(counted(report.ratings, "rating"), color="gray")
        st.badge(f"{counted(report.shared_games, 'game')} rated by two or more", color="gray")

    disagreements(report)
    row_agreement(report)
    parts.raters(report)
    parts.references(report)
    parts.export(report)
