"""Checks of messages, opinions, themes and quotes: a form that starts them, their chart, and a game's findings."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.app_pages.games import checks_data
from dashboard.shared import queries, resources
from dashboard.shared.charts.drawing import draw_chart
from dashboard.shared.downloads import csv_download
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_form import judge_in_force, start_judging
from dashboard.shared.jobs.judging_jobs import CHECKS, ChecksOrder
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from dashboard.shared.typed_text import tell_beyond
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import Wanted
from evaluation.insight.validator import EVERYBODY, CheckSummary
from evaluation.judging.judge_config import JudgeConfig
from evaluation.store import Store

MODEL = "model"
_THIS_GAME, _ALL_GAMES = "this game", "all games"
_LONGEST_QUESTION = 500


def over_iterations(found: Sequence[CheckSummary]) -> None:
    """The means of stored checks over iterations."""
    st.subheader("Checks over iterations", anchor=False)
    left, right = st.columns(2)
    kinds = [kind for kind in checks_data.CHECK_LABELS if any(one.check_type == kind for one in found)]
    names = checks_data.players(found)
    check = left.selectbox("Check", kinds, format_func=checks_data.CHECK_LABELS.__getitem__, key="shown_check")
    place = right.selectbox(
        "Player of the chart",
        range(len(names)),
        format_func=lambda at: "Everybody" if names[at] == EVERYBODY else names[at],
        key="shown_check_player",
    )
    chosen = checks_data.of_player(found, check, names[place])
    if chosen:
        draw_chart(
            checks_data.check_figure(chosen, check),
            key="checks_over_iterations",
            config={"displayModeBar": False},
            alt=checks_data.figure_alt(chosen, check),
        )
    else:
        st.info("No message of this player got a score on this check.")
    st.caption(
        "The mean is that of games, with its 95 % interval over games; one game has none. The share that passed counts "
        "checks, with an interval as if they were independent. The latest sample of each game counts."
    )
    rows = checks_data.summary_rows(found)
    status_table(rows, "Every check of every player by iteration: n, pass rate, mean, intervals")
    csv_download("Download the table", lambda: rows, "checks.csv")


def findings(transcript_id: str) -> None:
    """Show what models found in a game; nothing where none was asked."""
    if checked := resources.read(checks_data.game_check_rows, transcript_id):
        st.subheader("Checks of this game", anchor=False)
        status_table(checked, "The checks of this game that have a score")
    for number, one in enumerate(resources.read(checks_data.findings, transcript_id), 1):
        st.subheader(f"{one['kind'].capitalize()} in this game", anchor=False)
        if one["question"]:
            plain(f"Asked about: {one['question']}")
        if rows := checks_data.finding_rows(one):
            status_table(rows, f"The {one['kind']} that a judge found in this game, answer {number}")
        else:
            st.text("Nothing was found that the text bears out.")


def form(transcript_id: str) -> None:
    """A button that opens what a model can be asked, and below it the checks that are stored of all iterations."""
    opened = st.expander(
        "Let a model check messages, find opinions, themes and quotes",
        icon=":material/psychology:",
        key=MODEL,
        on_change="rerun",
        bind="query-params",
    )
    if not opened.open:
        return
    with opened:
        store = resources.store()
        config = judge_in_force(
            store, "No model is set up. Set OPENAI_API_KEY or OPENAI_BASE_URL and start the server again."
        )
        if config is not None and config.mode != "offline":
            _ask(store, transcript_id, config)
        if found := resources.read(checks_data.summaries):
            over_iterations(found)


def _ask(store: Store, transcript_id: str, config: JudgeConfig) -> None:
    order = _order(transcript_id)
    if order.wanted.is_nothing or not order.transcripts:
        st.info("Choose something to ask, and games to ask about.")
        return
    if tell_beyond(order.topic or "", _LONGEST_QUESTION) or tell_beyond(order.criteria or "", _LONGEST_QUESTION):
        return
    _tell_estimate(order, config)
    is_busy = jobs.running(store, CHECKS) is not None
    if st.button("Run checks", icon=":material/play_arrow:", type="primary", disabled=is_busy, key="run_checks"):
        start_judging(store, order)
    if is_busy:
        st.caption("Messages are being checked; what is done is stored, and Cancel stops it.")


def _order(transcript_id: str) -> ChecksOrder:
    usual = EvaluationConfig()
    left, right = st.columns(2, gap="large")
    with left:
        sizes = resources.read(queries.iteration_sizes)
        where = st.selectbox("Games", [_THIS_GAME, *sizes, _ALL_GAMES], key="checks_games")
        is_checked = st.toggle("Check messages: persona, consistency, coherence", True, key="checks_wanted")
        share = st.number_input(
            "Share of messages that is checked", 0.01, 1.0, usual.validation_sampling_rate, 0.1, key="checks_share"
        )
        most = st.number_input("Checks of a game at most", 1, 10_000, usual.max_validation_calls, key="checks_per_game")
        seed = st.number_input("Random seed", 0, 2**31 - 1, 0, key="checks_seed")
    with right:
        topic = st.text_input("Opinions on this topic", key="checks_topic")
        has_themes = st.toggle("Recurring themes", False, key="checks_themes")
        criteria = st.text_input("Quotes that fit this", key="checks_criteria")
        usd = st.number_input("Spending limit (USD)", 0.0, value=None, step=0.5, key="checks_usd")
        calls = st.number_input("Limit on calls", 0, value=None, step=100, key="checks_calls")
    return ChecksOrder(
        transcripts=[transcript_id] if where == _THIS_GAME else resources.read(_ids, where),
        checks=is_checked,
        topic=topic.strip() or None,
        themes=has_themes,
        criteria=criteria.strip() or None,
        share=share,
        checks_per_game=most,
        seed=seed,
        max_usd=usd,
        max_calls=calls,
    )


def _ids(store: Store, where: str) -> list[str]:
    return store.transcripts.ids(None if where == _ALL_GAMES else where)


def _tell_estimate(order: ChecksOrder, config: JudgeConfig) -> None:
    wanted = Wanted(order.checks, order.topic, order.themes, order.criteria)
    with st.spinner("Counting questions", show_time=True):
        found = resources.read(
            checks_data.estimate,
            tuple(order.transcripts),
            wanted,
            order.share,
            order.checks_per_game,
            order.seed,
            config,
        )
    plain(f"{found}.")
