"""Results of the check of who speaks, in words and by rater."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.shared.formatting import share_text
from dashboard.shared.notices import plain
from evaluation.rating_desk.style_check import StyleAnswer, StyleResult, style_result, style_results_by_rater
from evaluation.text.display import shortened

_LONGEST_NAME = 60


def result_words(result: StyleResult) -> str:
    """ "7 of 12 told (58 %, 95 % interval 32 to 81 %); guessing finds 25 %. ..." """
    low, high = result.interval.low, result.interval.high
    interval = "" if low is None or high is None else f", 95 % interval {100 * low:.0f} to {100 * high:.0f} %"
    verdict = "Better than guessing." if result.is_above_chance else "That may be guessing; more answers would tell."
    return (
        f"{result.identified} of {result.asked} told ({share_text(result.share)}{interval}); guessing finds "
        f"{share_text(result.chance)}. {verdict}"
    )


def style_table(answers: Sequence[StyleAnswer]) -> None:
    """Results of all raters, for leads; nothing before somebody did the check."""
    everybody = style_result(answers)
    if everybody is None:
        return
    st.subheader("Who speaks?", anchor=False)
    st.markdown(result_words(everybody))
    st.caption("Players of one game are not independent of each other, so the interval is too narrow for other games.")
    for rater, one in style_results_by_rater(answers).items():
        plain(f"{shortened(rater, _LONGEST_NAME)}: {result_words(one)}")
