"""Where raters, metrics and people's decisions differ: what the Agreement page shows first."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard.components.messages import plain
from dashboard.components.picked_game import desk_link
from dashboard.components.status_table import status_table
from dashboard.formatting import look
from evaluation.agreement import AgreementReport, RowAgreement
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics import Interval
from evaluation.text.display import counted, shortened

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
        if not more:
            desk_link(transcript_id, "Rate or revise it")


def _rest(rows: list[dict[str, object]], alt: str) -> None:
    if len(rows) > _FIRST:
        with st.expander(f"All {len(rows)}"):
            status_table(pd.DataFrame(rows), alt)


def same_text(same: int, count: int, interval: Interval) -> str:
    """ "2 of 8 (7 to 59 %)", or that nothing was decided."""
    if interval.low is None or interval.high is None:
        return "not asked"
    return f"{same} of {count} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"
