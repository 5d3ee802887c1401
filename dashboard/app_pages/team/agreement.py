"""Agreement in a sentence, where raters differ, a sentence for each question, and the numbers folded."""

import streamlit as st

from dashboard.app_pages.team import raters_and_metrics as parts
from dashboard.app_pages.team.disagreements import disagreements, row_agreement
from dashboard.shared import queries, resources, state
from dashboard.shared.first_run import no_games_yet
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import rate_link
from evaluation.agreement.sentences import agreement_sentences, headline
from evaluation.text.display import counted
from evaluation.workflows.ratings import stored_agreement

NUMBERS = "numbers"


def agreement() -> None:
    """Show how far raters agree, words before numbers."""
    if not resources.read(queries.transcript_ids):
        no_games_yet(
            "agreement", "No ratings to compare yet", "Add games; two people who rate the same game can be compared."
        )
        return
    report = resources.read(stored_agreement)
    counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
    if report.shared_games:
        st.subheader(headline(report), anchor=False)
        st.caption(
            f"{counts}, {counted(report.shared_games, 'game')} rated by two or more. "
            "This page shows what other raters gave: look once you have rated your games."
        )
    else:
        empty_state("At least two raters are needed", f"So far: {counts}, and no game that two people have rated.")
        with st.container(horizontal=True, horizontal_alignment="center"):
            rate_link("Rate a game")
    if not report.ratings and not report.rows:
        return
    disagreements(report)
    st.subheader("Question by question", anchor=False)
    plain("\n".join(agreement_sentences(report)))
    numbers = st.expander("Show the numbers", key=NUMBERS, on_change="rerun", bind="query-params")
    # An address that names a question shows them.
    if numbers.open or state.chosen("item"):
        with numbers:
            if report.shared_games:
                parts.raters(report)
            if report.ratings:
                parts.references(report)
            row_agreement(report)
            parts.export(report)
