"""Agreement in a sentence, a line for each question, the games where raters differ, and the numbers folded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import streamlit as st

from dashboard.app_pages.team.disagreements import disagreements, figure_words, percent_words, row_agreement
from dashboard.shared import queries, resources, state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.identity import identity
from dashboard.shared.identity.visible_games import hidden_ratings
from dashboard.shared.notices import empty_state
from dashboard.shared.page_links import no_games_yet, rate_link
from dashboard.shared.rating_sheets import rating_sheets
from dashboard.shared.status_table import csv_download, json_download, status_table
from evaluation.access import Action
from evaluation.agreement.between_raters import AGREE, NOT, TOO_FEW_GAMES, UNCLEAR, ItemAgreement
from evaluation.agreement.report import (
    AgreementReport,
    agreement_data,
    headline,
    often_words,
    question_words,
)
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.statistics.words import interval_words
from evaluation.text.display import counted
from evaluation.workflows.ratings import stored_agreement

NUMBERS = "numbers"


def item_rows(report: AgreementReport) -> list[dict[str, object]]:
    """One row per item, those on which raters differ first: what it asks, whether they agree, how often they do."""
    held = [(level, one) for one in report.items if (level := one.level) is not None]
    return [
        {
            "Question": f"{one.item.name[-1]}. {QUESTIONS[int(one.item.name[-1]) - 1]}"
            if not one.item.is_score
            else "Score: how good was it to watch?",
            "Do raters agree?": _LEVELS[level],
            "Gave the same": often_words(one),
        }
        for level, one in sorted(held, key=lambda one: (list(_LEVELS).index(one[0]), one[1].exact.value))
    ]


_LEVELS = {NOT: "✗ no", UNCLEAR: f"? {UNCLEAR}", TOO_FEW_GAMES: f"? {TOO_FEW_GAMES}", AGREE: "✓ yes"}


def agreement() -> None:
    """Show how far raters agree, words before numbers."""
    if not resources.read(queries.transcript_ids):
        no_games_yet(
            "agreement", "No ratings to compare yet", "Add games; two people who rate the same game can be compared."
        )
        return
    store = resources.store()
    hidden = hidden_ratings(store, store.ratings.rater_counts())
    report = resources.read(stored_agreement, tuple(sorted(hidden)))
    if hidden:
        st.caption(f"{counted(len(hidden), 'game')} that you have not rated yet: what others gave is hidden from you.")
    counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
    if report.shared_games:
        facts = [Fact(counts), Fact(f"{counted(report.shared_games, 'game')} rated by two or more")]
        if report.note:
            facts.append(Fact(f"{counted(report.missing_games, 'more such game')} may tell", "orange"))
        sentence = " ".join(filter(None, (report.outlier_words, question_words(report), *_after_words(report))))
        with answer(headline(report), sentence, facts):
            if report.note and identity.allowed(Action.EDIT):
                to_assign = partial(state.set_widgets, {state.TEAM_VIEW: state.ASSIGN})
                st.button("Assign more games", key="assign_more", type="primary", on_click=to_assign)
    else:
        title, words = "At least two raters are needed", f"So far: {counts}, and no game that two people have rated."
        if hidden:
            title = "Hidden until you have rated these games"
            words = "Rate the games first: others' ratings could sway yours."
        empty_state(title, words)
        with st.container(horizontal=True, horizontal_alignment="center"):
            rate_link("Rate a game")
    if not report.ratings and not report.rows:
        return
    shared = {QUESTIONS_PART: _questions, RATERS_PART: _raters} if report.shared_games else {}
    disagreements(report, shared)
    with state.linked_box("Show the numbers", NUMBERS, icon=":material/table:") as is_open:
        if is_open:
            if report.shared_games:
                raters(report)
            row_agreement(report)
            export(report)
    if identity.allowed(Action.EDIT):
        rating_sheets(store, identity.decider_name())


def _after_words(report: AgreementReport) -> Iterator[str]:
    """The sentences on ratings that are not blind, or were changed when others' could be seen."""
    counts = {
        "given after its rater had seen scores or ratings of the game: not blind.": report.informed,
        "changed after another rater's score of the game could be seen.": report.revised_after_others,
    }
    for what, count in counts.items():
        if count:
            yield f"{count} of {counted(report.ratings, 'rating')} {'was' if count == 1 else 'were'} {what}"


QUESTIONS_PART, RATERS_PART = "Questions", "Rater by rater"


def _questions(report: AgreementReport) -> None:
    status_table(item_rows(report), "Score and questions: whether raters agree, and how often they gave the same")
    st.caption(
        "Agreement counts beyond chance: where nearly every answer is yes, equal answers show little. Close scores "
        "count almost as equal."
    )


def _raters(report: AgreementReport) -> None:
    """Each rater against the others, or, as somebody is chosen, against each of them; who lies apart comes first."""
    alone = [one for one in report.differences if not one.against]
    people = ["", *(one.rater for one in alone)]
    if len(alone) > 2:
        person = st.selectbox("Against", people, format_func=lambda name: name or "All the others", key="differs_from")
        pairs = [one for one in report.differences if one.against and person in (one.rater, one.against)]
        shown = pairs if person else alone
    else:
        shown = [one for one in report.differences if one.against]
    rows = [{"Far apart on many games first": one.words} for one in shown]
    for row, one in zip(rows, shown, strict=True):
        if not one.against:
            row["Alpha without"] = "–" if math.isnan(one.without) else f"{one.without:.2f}"
            row["Lies apart?"] = f"? {TOO_FEW_GAMES}" if one.is_early else "✗ most of all" * (one is report.outlier)
    status_table(rows, "How much more or less each rater gives on the games that they share")


def raters(report: AgreementReport) -> None:
    """Alpha of every item with its interval."""
    st.subheader("Raters against each other", anchor=False)
    st.caption(
        "Krippendorff's alpha: 1 is perfect, 0 is chance. From 0.80 it is reliable, from 0.67 good enough for "
        "tentative conclusions. Intervals are 95 %, over games; from enough games on, the reading goes by their lower "
        "ends."
    )
    if report.note:
        st.caption(report.note)
    status_table([*map(coefficient_row, report.items)], "Agreement by item")
    st.caption(
        "AC1 (Gwet) stays meaningful where nearly everybody gives the same answer. "
        "Floor: how often always the commonest answer would agree."
    )


def coefficient_row(one: ItemAgreement) -> dict[str, object]:
    """The row of an item in the table and its file; the JSON has the figures unrounded, with all intervals."""
    return {
        "Item": one.item.short_label,
        "Alpha": figure_words(one.alpha),
        "95 % interval": interval_words(one.alpha.interval, digits=2) if one.alpha.is_known else "",
        "Reading": one.reading,
        "AC1": figure_words(one.ac1) if one.ac1 else "",
        "Same answer (%)": percent_words(one.exact.value),
        "Floor (%)": percent_words(one.floor),
        "Games": one.games,
    }


def export(report: AgreementReport) -> None:
    """The agreement of items as CSV, and the whole report as JSON."""
    with st.container(horizontal=True):
        csv_download("Download the table (CSV)", lambda: [*map(coefficient_row, report.items)], "agreement.csv")
        json_download("Download the agreement (JSON)", lambda: agreement_data(report), "agreement.json")
