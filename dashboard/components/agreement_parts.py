"""The sections of the Agreement page."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard.comparison_charts import (
    item_label,
    item_whiskers,
    reference_whiskers,
    whisker_figure,
    whisker_words,
)
from dashboard.components.messages import plain
from dashboard.components.status_table import status_table
from dashboard.formatting import counted, look, shortened, signed_cell
from evaluation.agreement import AgreementReport, Figure, RowAgreement
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.rating_guide import QUESTIONS
from evaluation.statistics import Interval

RATERS, RULES, OVERRULED = "Raters differ", "Metrics differ from raters", "Overruled by people"
_FIRST = 5
_LONGEST_NAME = 60
_LONGEST_REASON = 200


def disagreements(report: AgreementReport) -> None:
    """What to look at first: one click opens the game, or the message."""
    st.subheader("Look at these first", anchor=False)
    view = st.segmented_control(
        "Disagreements",
        [RATERS, RULES, OVERRULED],
        default=RATERS,
        required=True,
        key="differ",
        bind="query-params",
        label_visibility="collapsed",
    )
    {RATERS: _split_games, RULES: _rule_gaps, OVERRULED: _overruled_rows}[view](report)


def _split_games(report: AgreementReport) -> None:
    if not report.split:
        st.success("Raters gave the same scores and answers to every game they share.", icon=":material/check:")
    for one in report.split[:_FIRST]:
        given = ", ".join(f"{shortened(rater, _LONGEST_NAME)} {score}" for rater, score in one.scores)
        split = f"\nSplit on {_questions(one.split_questions)}" if one.split_questions else ""
        _lead(one.game_id, f"{counted(one.spread, 'point')} apart: {given}{split}", one.transcript_id)
    _rest(
        [
            {
                "Game": one.game_id,
                "Points apart": one.spread,
                "Scores": ", ".join(f"{rater} {score}" for rater, score in one.scores),
                "Questions split": ", ".join(map(str, one.split_questions)),
            }
            for one in report.split
        ],
        "Games that split the raters",
    )


def _questions(numbers: tuple[int, ...]) -> str:
    return (
        "question " + ", ".join(map(str, numbers)) if len(numbers) == 1 else f"questions {', '.join(map(str, numbers))}"
    )


def _rule_gaps(report: AgreementReport) -> None:
    st.caption("The mean of a game's automatic metrics, laid on 1 to 5, beside what raters gave.")
    for one in report.gaps[:_FIRST]:
        words = f"raters {one.rated:.2f} ({counted(one.raters, 'rater')}), metrics {one.automatic:.2f}: {one.gap:+.2f}"
        _lead(one.game_id, words, one.transcript_id)
    _rest(
        [
            {"Game": one.game_id, "Raters": one.rated, "Metrics": one.automatic, "Gap": one.gap, "By": one.raters}
            for one in report.gaps
        ],
        "Games that metrics and raters see differently",
    )


def _overruled_rows(report: AgreementReport) -> None:
    if not report.overruled:
        st.caption("Nobody has overruled a verdict yet. It is done on a message, on the Transcripts page.")
    for one in report.overruled[:_FIRST]:
        words = f"{DEFINITIONS[one.metric].label}: {look(one.verdict).word}\n{one.author}: {one.reason}"
        link = {"message": one.message_id, "metric": one.metric} if one.message_id else {}
        _lead(one.game_id, words, one.transcript_id, link)
    _rest(
        [
            {
                "Game": one.game_id,
                "Metric": DEFINITIONS[one.metric].label,
                "Decided": look(one.verdict).label,
                "The rule": look(one.rule_verdict).label if one.rule_verdict else "",
                "A judge": look(one.judge_verdict).label if one.judge_verdict else "",
                "By": one.author,
                "Reason": shortened(one.reason, _LONGEST_REASON),
            }
            for one in report.overruled
        ],
        "Verdicts that people overruled",
    )
    if report.rows:
        st.caption(
            "How often rule and judge had said the same, with 95 % intervals. People look at rows that seem wrong, so "
            "this is no measure of how often they are right."
        )
        status_table(pd.DataFrame(map(_row_agreement, report.rows)), "Rule and judge on rows that people decided")


def _row_agreement(one: RowAgreement) -> dict[str, object]:
    return {
        "Metric": DEFINITIONS[one.metric].label,
        "Rows": one.rows,
        "The rule said the same": same_text(one.rule_same, one.rows, one.rule_interval),
        "A judge said the same": same_text(one.judge_same, one.judged, one.judge_interval),
    }


def _lead(game_id: str, words: str, transcript_id: str, more: Mapping[str, str] | None = None) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        plain(f"{shortened(game_id, _LONGEST_NAME)}\n{words}")
        st.page_link(
            "app_pages/transcripts.py",
            label="Open the message" if more else "Open the game",
            icon=":material/arrow_forward:",
            query_params={"transcript": transcript_id, **(more or {})},
        )


def _rest(rows: list[dict[str, object]], alt: str) -> None:
    if len(rows) > _FIRST:
        with st.expander(f"All {len(rows)}"):
            status_table(pd.DataFrame(rows), alt)


def raters(report: AgreementReport) -> None:
    """Alpha of every item with its interval, then who is generous or strict."""
    st.subheader("Raters against each other", anchor=False)
    st.caption(
        "Krippendorff's alpha: 1 is perfect, 0 is chance. From 0.80 it is reliable, from 0.67 good enough for "
        "tentative conclusions (the dashed lines). Bars are 95 % intervals over games."
    )
    rows = item_whiskers(report.items)
    st.plotly_chart(
        whisker_figure(rows, "Krippendorff's alpha"),
        key="alphas",
        config={"displayModeBar": False},
        alt="Krippendorff's alpha by item. " + "; ".join(map(whisker_words, rows)),
    )
    status_table(pd.DataFrame([_item_row(report, place) for place in range(len(report.items))]), "Agreement by item")
    st.caption(
        "AC1 (Gwet) stays meaningful where nearly everybody gives the same answer. "
        "Floor: how often always the commonest answer would agree."
    )
    with st.expander("The questions"):
        plain("\n".join(f"{number}. {question}" for number, question in enumerate(QUESTIONS, start=1)))
    st.markdown("**Generous and strict**")
    st.caption("Each rater beside the mean of the others on the same games, in points of the 1 to 5 scale.")
    status_table(
        pd.DataFrame([_leaning_row(report, place) for place in range(len(report.leanings))]), "Raters' leanings"
    )
    if len(report.pairs) > 1:
        with st.expander("Every two raters"):
            status_table(
                pd.DataFrame([_pair_row(report, place) for place in range(len(report.pairs))]), "Pairs of raters"
            )


def _item_row(report: AgreementReport, place: int) -> dict[str, object]:
    one = report.items[place]
    return {
        "Item": item_label(one.item.name),
        "Alpha": figure_text(one.alpha),
        "Reading": one.reading,
        "AC1": figure_text(one.ac1) if one.ac1 else "",
        "Same answer": share_text(one.exact.value),
        "Floor": share_text(one.floor),
        "Games": one.games,
        "Answers": one.ratings,
    }


def _leaning_row(report: AgreementReport, place: int) -> dict[str, object]:
    one = report.leanings[place]
    return {
        "Rater": one.rater,
        "Above the others": number_text(one.bias, "+"),
        "95 % interval": interval_text(one.interval),
        "Rank agreement": number_text(one.spearman),
        "Shared games": one.games,
        "Rated": one.rated,
    }


def _pair_row(report: AgreementReport, place: int) -> dict[str, object]:
    one = report.pairs[place]
    return {
        "First": one.first,
        "Second": one.second,
        "Weighted kappa": number_text(one.kappa),
        "Rank agreement": number_text(one.spearman),
        "First above second": number_text(one.bias, "+"),
        "Same score": share_text(one.exact),
        "Games": one.games,
    }


def references(report: AgreementReport) -> None:
    """The metrics against the raters on one item, between floor and human ceiling."""
    st.subheader("Metrics against raters", anchor=False)
    names = [one.item.name for one in report.items]
    name = st.segmented_control(
        "Beside",
        names,
        default=names[0],
        required=True,
        format_func=item_label,
        key="item",
        bind="query-params",
    )
    if name != names[0]:
        plain(QUESTIONS[names.index(name) - 1])
    shown = [one for one in report.references if one.item.name == name]
    rows = reference_whiskers(shown)
    st.caption(
        "Quadratic-weighted kappa between metric and ratings. Open diamonds: two raters of the same games, the most "
        "that a metric can hope for. 0: always the commonest answer."
    )
    st.plotly_chart(
        whisker_figure(rows, "weighted kappa", ()),
        key="kappas",
        config={"displayModeBar": False},
        alt="Weighted kappa by metric. " + "; ".join(map(whisker_words, rows)),
    )
    status_table(
        pd.DataFrame(
            [
                {
                    "Metric": one.label,
                    "Kappa": figure_text(one.kappa),
                    "Ceiling": number_text(one.ceiling_kappa),
                    "Rank agreement": figure_text(one.spearman),
                    "Above the raters": number_text(one.bias.value, "+"),
                    "Same answer": share_text(one.exact.value),
                    "Two raters": share_text(one.ceiling_exact),
                    "Floor": share_text(one.floor_exact),
                    "Games": one.games,
                    "Ratings": one.ratings,
                }
                for one in shown
            ]
        ),
        "Metrics against raters",
    )
    st.caption(
        "For the score, 0 to 100 % are laid on 1 to 5. For a question, a passed metric stands for yes. No metric "
        "claims to measure what raters feel; this shows which of them follows it."
    )


def figure_text(figure: Figure) -> str:
    """ "0.75 (0.18 to 0.89)", or that it is not defined."""
    if not figure.is_known:
        return "not defined"
    return signed_cell(f"{figure.value:.2f} ({interval_text(figure.interval, signed=False)})")


def interval_text(interval: Interval, *, signed: bool = True) -> str:
    """An interval with two digits, or why there is none."""
    if interval.low is None or interval.high is None:
        return interval.note or "no interval"
    sign = "+" if signed else ""
    return signed_cell(f"{interval.low:{sign}.2f} to {interval.high:{sign}.2f}")


def same_text(same: int, count: int, interval: Interval) -> str:
    """ "2 of 8 (7 to 59 %)", or that nothing was decided."""
    if interval.low is None or interval.high is None:
        return "not asked"
    return f"{same} of {count} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"


def number_text(value: float, sign: str = "") -> str:
    """Two digits, or that it is not defined."""
    return "not defined" if math.isnan(value) else signed_cell(f"{value:{sign}.2f}")


def share_text(value: float) -> str:
    """A share in percent, or that there is none."""
    return "not defined" if math.isnan(value) else f"{100 * value:.0f} %"
