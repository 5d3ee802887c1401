"""Blind judgements of two iterations' games by people: the win rate, the judgements, and judging the next pair."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import queries, resources
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.rating.pair_form import judge_pairs
from dashboard.shared.status_table import status_table
from evaluation.rating_desk.game_pairs import PairJudgement
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.ratings.pair_judgements import judgements_between, win_rate_of

_RESULT, _JUDGE = "Result", "Judge pairs"


def judged_pairs(store: Store, before: str, after: str) -> None:
    """The result, or the next pair; never both, so that the result sways nobody who judges."""
    part = st.segmented_control(
        "Part",
        [_RESULT, _JUDGE],
        default=_RESULT,
        required=True,
        key="judged",
        bind="query-params",
        label_visibility="collapsed",
    )
    if part == _JUDGE:
        rater = identity.rater_name()
        if rater is None:
            st.info("Say on the Review page who you are, then judge pairs here.", icon=":material/info:")
            st.page_link("app_pages/review/page.py", label="Say who judges", icon=":material/rate_review:")
            return
        judge_pairs(store, rater, before, after, tells_sides=True)
        return
    _result(before, after)


def _result(before: str, after: str) -> None:
    found = resources.read(win_rate_of, before, after)
    if not found.judged:
        st.info(
            "Nobody has judged these two iterations yet. People read two games beside each other, blind, and say which "
            'was better to watch: here under "Judge pairs", or on the Review page under "Which was better?", where the '
            "latest iteration and its reference are judged.",
            icon=":material/info:",
        )
        return
    with st.container(horizontal=True):
        rate = "no win rate" if found.win_rate is None else f"{100 * found.win_rate:.0f}\u00a0%"
        low, high = found.interval.low, found.interval.high
        between = "" if low is None or high is None else f"95 % interval {100 * low:.0f} to {100 * high:.0f} %"
        st.metric("After was better to watch", rate, between, delta_color="off", delta_arrow="off", border=True)
        st.metric("Preferred after", found.better, border=True)
        st.metric("Preferred before", found.worse, border=True)
        st.metric("No difference", found.no_difference, border=True)
    plain(found.words)
    st.caption(
        "50 % says that people prefer neither. Judgements of no difference are counted apart. The interval is Wilson's "
        "and takes judgements as independent of each other; those of one rater or of one game are not quite."
    )
    given = resources.read(judgements_between, before, after)
    with st.expander(f"All {counted(len(given), 'judgement')}", icon=":material/table:"):
        status_table(_table(given, after), "Judgements of two games, with who gave them")


def _table(given: list[PairJudgement], after: str) -> pd.DataFrame:
    listed = resources.share(queries.transcript_list).set_index("transcript_id")
    rows = []
    for one in given:
        new, old = sorted(one.pair.games, key=lambda game: listed.loc[game, "iteration"] != after)
        better = "no difference" if one.better is None else "after" if one.better == new else "before"
        games = {"Game before": listed.loc[old, "label"], "Game after": listed.loc[new, "label"]}
        rows.append({"Rater": one.rater, **games, "Better": better, "When": f"{one.given_at:%Y-%m-%d %H:%M}"})
    return pd.DataFrame(rows)
