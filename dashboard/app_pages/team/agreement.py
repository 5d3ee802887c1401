"""Agreement in a sentence, a line for each question, the games where raters differ, and the numbers folded."""

import streamlit as st

from dashboard.app_pages.team import raters_and_metrics as parts
from dashboard.app_pages.team.disagreements import disagreements, row_agreement
from dashboard.shared import queries, resources, state
from dashboard.shared.first_run import no_games_yet
from dashboard.shared.identity import identity
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import rate_link
from dashboard.shared.status_table import status_table
from evaluation.agreement.between_raters import FEWEST_FOR_READING
from evaluation.agreement.report import (
    AGREE,
    NOT,
    PARTLY,
    AgreementReport,
    agreement_level,
    headline,
    often_words,
    other_sentences,
)
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.text.display import counted
from evaluation.workflows.ratings import stored_agreement

NUMBERS = "numbers"
_NO_SHARED = "You share no game with another rater yet, so this is about others."


def item_rows(report: AgreementReport) -> list[dict[str, object]]:
    """One row per item, those on which raters differ first: what it asks, whether they agree, how often they do."""
    so_far = " so far" if report.note else ""
    held = [(level, one) for one in report.items if (level := agreement_level(one)) is not None]
    return [
        {
            "Question": f"{one.item.name[-1]}. {QUESTIONS[int(one.item.name[-1]) - 1]}"
            if not one.item.is_score
            else "Score: how good was it to watch?",
            "Do raters agree?": f"{_LEVELS[level]}{so_far}",
            "Gave the same": often_words(one),
        }
        for level, one in sorted(held, key=lambda one: list(_LEVELS).index(one[0]))
    ]


_LEVELS = {NOT: "✗ no", PARTLY: "? partly", AGREE: "✓ yes"}


def agreement() -> None:
    """Show how far raters agree, words before numbers."""
    if not resources.read(queries.transcript_ids):
        no_games_yet(
            "agreement", "No ratings to compare yet", "Add games; two people who rate the same game can be compared."
        )
        return
    store = resources.store()
    hidden = identity.hidden_games(store, identity.author_name(), store.ratings.rater_counts())
    report = resources.read(stored_agreement, tuple(sorted(hidden)))
    if hidden:
        st.caption(f"{counted(len(hidden), 'game')} that you have not rated yet: what others gave is hidden from you.")
    counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
    if report.shared_games:
        st.subheader(headline(report), anchor=False)
        needed = f"; {FEWEST_FOR_READING} such games are needed to be sure" if report.note else ""
        st.caption(
            f"{counts}, {counted(report.shared_games, 'game')} rated by two or more{needed}. "
            "This page shows what other raters gave: look once you have rated your games."
        )
        if rater := identity.rater_name():
            shared = report.shared_by_rater.get(rater, 0)
            st.markdown(
                f"You share {counted(shared, 'game')} with other raters; My ratings says how near you are to them."
                if shared
                else _NO_SHARED
            )
    else:
        empty_state("At least two raters are needed", f"So far: {counts}, and no game that two people have rated.")
        with st.container(horizontal=True, horizontal_alignment="center"):
            rate_link("Rate a game")
    if not report.ratings and not report.rows:
        return
    if report.shared_games:
        status_table(item_rows(report), "Score and questions: whether raters agree, and how often they gave the same")
        st.caption(
            "Agreeing is more than chance: where nearly every answer is yes, giving the same shows little. Of scores, "
            "near ones count almost as the same."
        )
    plain("\n".join(other_sentences(report)))
    disagreements(report)
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
