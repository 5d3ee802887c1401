"""Agreement in a sentence, where raters differ, a sentence for each question, and the numbers folded."""

import pandas as pd
import streamlit as st

from dashboard.app_pages.team import raters_and_metrics as parts
from dashboard.app_pages.team.disagreements import disagreements, row_agreement
from dashboard.shared import queries, resources, state
from dashboard.shared.first_run import no_games_yet
from dashboard.shared.identity import identity
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import rate_link
from dashboard.shared.status_table import status_table
from evaluation.agreement.report import AgreementReport
from evaluation.agreement.sentences import headline, is_no_better_than_constant, often_words, other_sentences
from evaluation.rubric.rating_guide import QUESTION_TOPICS
from evaluation.text.display import counted
from evaluation.workflows.ratings import stored_agreement

NUMBERS = "numbers"
_NO_SHARED = "You share no game with another rater yet, so this is about others."


def items_frame(report: AgreementReport) -> pd.DataFrame:
    """One row per item: what it is, how often raters gave the same, and whether that is more than guessing."""
    return pd.DataFrame(
        [
            {
                # Short, so that a telephone shows the answers beside it.
                "Question": "Score" if one.item.is_score else _short(int(one.item.name[-1])),
                "The same": often_words(one).removeprefix("in ").removeprefix("from "),
                "Better than guessing": "– all gave the same"
                if one.floor >= 1
                else "✗ no"
                if is_no_better_than_constant(one)
                else "✓ yes"
                if (one.alpha.interval.low or 0.0) > 0
                else "? not sure",
            }
            for one in report.items
            if one.games
        ]
    )


def _short(number: int) -> str:
    return f"{number} {QUESTION_TOPICS[number - 1]}"


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
        if rater := identity.rater_name():
            shared = next((one.games for one in report.leanings if one.rater == rater), 0)
            st.markdown(f"You share {counted(shared, 'game')} with another rater." if shared else _NO_SHARED)
    else:
        empty_state("At least two raters are needed", f"So far: {counts}, and no game that two people have rated.")
        with st.container(horizontal=True, horizontal_alignment="center"):
            rate_link("Rate a game")
    if not report.ratings and not report.rows:
        return
    disagreements(report)
    st.subheader("Question by question", anchor=False)
    if report.shared_games:
        status_table(items_frame(report), "Score and questions: how often raters gave the same")
    plain("\n".join(other_sentences(report)))
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
