"""The figures of a discussion below its game, with what a judge finds in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.games import insights_data as data
from dashboard.app_pages.games.insights_data import OpenGame
from dashboard.app_pages.games.ledger_row import choose_message
from dashboard.shared import queries, resources, state
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_form import judge_in_force, limit_inputs, start_judging
from dashboard.shared.jobs.judging_jobs import CHECKS, ChecksOrder
from dashboard.shared.notices import plain, tell_beyond, words_of
from dashboard.shared.status_table import pick_cell, status_table
from evaluation.errors import InputError
from evaluation.insight.evaluation_report import Wanted
from evaluation.insight.recommendations import (
    AGENT_HEADERS,
    agent_rows,
    cost_lines,
    memory_lines,
    network_lines,
)
from evaluation.insight.validator import EvaluationConfig
from evaluation.judging.judge_config import JudgeConfig
from evaluation.store import Store
from evaluation.text.display import shortened
from evaluation.workflows.judging import estimate_insights

_ARROW = "arrow"
_MOST_MESSAGES = 30
_LONGEST_MESSAGE = 300


def insights(transcript_id: str) -> None:
    """One game's figures, words before numbers."""
    try:
        opened = resources.share(data.open_game, transcript_id)
    except InputError as error:
        st.error("The figures of this game cannot be computed.")
        plain(words_of(error))
        return
    plain(data.finding(opened))
    _who_talks_to_whom(opened)
    _shares(opened)
    _memory_and_cost(opened)
    findings(transcript_id)
    form(transcript_id)
    _numbers(opened)


def _who_talks_to_whom(opened: OpenGame) -> None:
    st.subheader("Who talks to whom", anchor=False)
    if not opened.arrows:
        st.caption("Nobody addresses anybody: no player is named, answered or written to in private.")
        return
    st.caption("Rows speak to columns: by name, as an answer, or in private, who says most first.")
    chosen = state.chosen(_ARROW, [str(place) for place in range(len(opened.arrows))])
    alt = "Messages from each player to each other one"
    picked = pick_cell(data.address_matrix(opened), alt, "insights_matrix", heads=2, is_shaded=True)
    if picked is not None:
        pairs = [(one.sender, one.receiver + 2) for one in opened.arrows]
        wanted = str(pairs.index(picked)) if picked in pairs else None
        state.choose(**{_ARROW: None if wanted == chosen else wanted})
        st.rerun()
    if chosen is not None:
        _messages(opened, int(chosen))


def _messages(opened: OpenGame, chosen: int) -> None:
    messages = opened.arrows[chosen].messages
    with st.container(key="matrix_chosen", gap="small"):
        plain(opened.words(opened.arrows[chosen]))
        for message in messages[:_MOST_MESSAGES]:
            with st.container(horizontal=True, vertical_alignment="center"):
                plain(shortened(message.text, _LONGEST_MESSAGE))
                st.button(
                    f"Message {message.index + 1}",
                    key=f"arrow_{message.index}",
                    type="tertiary",
                    on_click=choose_message,
                    args=(opened.report.transcript["id"], message.id),
                )
        if len(messages) > _MOST_MESSAGES:
            st.caption(f"The first {_MOST_MESSAGES} of {len(messages)}.")


def _shares(opened: OpenGame) -> None:
    st.subheader("Who talks how much", anchor=False)
    rows = data.share_rows(opened)
    shares = opened.report.shares
    words = [shares.share_of_words(player) if player in shares.words else None for player in opened.players]
    most = max((share for share in words if share), default=1.0)
    bars = {"Words, %": [None if share is None else share / most for share in words]} if any(words) else None
    status_table(rows, "Every player's messages and share of the words", bars=bars, is_matrix=True)
    if rows and "Sentiment" in rows[0]:
        st.caption("Sentiment: the share of positive words among the positive and negative English ones, from 0 to 1.")
    for one in opened.report.recommendations:
        plain(one)


def _memory_and_cost(opened: OpenGame) -> None:
    metrics = opened.report.metrics
    known = {"Memory": data.known_words(memory_lines(metrics)), "Cost": data.known_words(cost_lines(metrics))}
    for name, words in known.items():
        if words:
            st.subheader(name, anchor=False)
            plain(words)
    if agents := [dict(zip(AGENT_HEADERS, row, strict=True)) for row in agent_rows(metrics)]:
        status_table(agents, "Memory, calls and tokens of every agent")


def _numbers(opened: OpenGame) -> None:
    with st.expander("Show the numbers", icon=":material/table:", key="insights_numbers"):
        network = opened.report.metrics.network
        if network is not None:
            st.markdown("**The network**")
            lines = [{"What": what, "Figure": figure} for what, figure in network_lines(network)]
            status_table(lines, "Figures of the network")
            st.caption("Between others: the share of shortest paths that lead through a player.")
            st.markdown("**Every player in it**")
            status_table(data.network_rows(opened), "Every player's place in the network")
        name = "discussion-report.json"
        access_checks.download_button("insights", "JSON", lambda: _json(opened), name, "application/json", key=name)


def _json(opened: OpenGame) -> bytes:
    return json.dumps(opened.report.as_dict(), ensure_ascii=False, indent=2, default=str).encode("utf-8")


CHECK_LABELS = {"persona_adherence": "Persona adherence", "consistency": "Consistency", "coherence": "Coherence"}


def estimate(store: Store, ids: Sequence[str], wanted: Wanted, config: EvaluationConfig, judge: JudgeConfig) -> str:
    """The expected questions, calls and cost of a run, in a sentence."""
    return estimate_insights(store, ids, wanted, config, judge).words


def stored_findings(store: Store, transcript_id: str) -> list[dict[str, Any]]:
    """The latest findings in a game, as ``Insights.findings`` has them."""
    found = store.insights.findings()
    records = found[found["transcript_id"] == transcript_id].to_dict("records")
    return [{str(name): value for name, value in one.items()} for one in records]


def game_check_rows(store: Store, transcript_id: str) -> list[dict[str, object]]:
    """The latest checks of a game that have a score."""
    found = store.insights.checks()
    held = found[(found["transcript_id"] == transcript_id) & found["score"].notna()]
    return [
        {
            "Check": CHECK_LABELS.get(str(one["check_type"]), str(one["check_type"])),
            "Result": "✓ passed" if one["passed"] else "✗ failed",
            "Score": f"{one['score']:.2f}",
            "Needed": f"{one['threshold']:.2f}",
            "Player": str(one["agent"] or ""),
            "Message": str(one["excerpt"]),
            "Why": str(one["explanation"]),
        }
        for one in held.to_dict("records")
    ]


def finding_rows(finding: Mapping[str, Any]) -> list[dict[str, object]]:
    """The findings of one question: one row per opinion, theme or quote."""
    return [
        {
            key.replace("_", " ").replace("agent id", "player").capitalize(): _cell(value)
            for key, value in one.items()
            if key not in ("message_ids", "message_id")
        }
        for one in finding["result"]["found"]
    ]


def _cell(value: object) -> str:
    return str(" / ".join(map(str, value)) if isinstance(value, list) else str(value))


MODEL = "model"
_THIS_GAME, _ALL_GAMES = "this game", "all games"
_LONGEST_QUESTION = 500


def findings(transcript_id: str) -> None:
    """Show what models found in a game; nothing where none was asked."""
    if checked := resources.read(game_check_rows, transcript_id):
        st.subheader("Checks of this game", anchor=False)
        status_table(checked, "The checks of this game that have a score")
    for number, one in enumerate(resources.read(stored_findings, transcript_id), 1):
        st.subheader(f"{one['kind'].capitalize()} in this game", anchor=False)
        if one["question"]:
            plain(f"Asked about: {one['question']}")
        if rows := finding_rows(one):
            status_table(rows, f"The {one['kind']} that a judge found in this game, answer {number}")
        else:
            st.text("Nothing was found that the text bears out.")


def form(transcript_id: str) -> None:
    """A button that opens what a model can be asked."""
    label = "Let a model check messages, find opinions, themes and quotes"
    with state.linked_box(label, MODEL, icon=":material/psychology:") as is_open:
        if not is_open:
            return
        store = resources.store()
        config = judge_in_force(
            store, "No model is set up. Set OPENAI_API_KEY or OPENAI_BASE_URL and start the server again."
        )
        if config is not None and config.mode != "offline":
            _ask(store, transcript_id, config)


def _ask(store: Store, transcript_id: str, config: JudgeConfig) -> None:
    order = _order(transcript_id)
    if order.wanted.is_nothing or not order.transcripts:
        st.info("Choose something to ask, and games to ask about.")
        return
    if tell_beyond(order.topic or "", _LONGEST_QUESTION, "topic") or tell_beyond(
        order.criteria or "", _LONGEST_QUESTION, "criteria"
    ):
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
        limits = limit_inputs("checks")
    return ChecksOrder(
        transcripts=[transcript_id] if where == _THIS_GAME else resources.read(_ids, where),
        checks=is_checked,
        topic=topic.strip() or None,
        themes=has_themes,
        criteria=criteria.strip() or None,
        share=share,
        checks_per_game=most,
        seed=seed,
        **limits,
    )


def _ids(store: Store, where: str) -> list[str]:
    return store.transcripts.ids(None if where == _ALL_GAMES else where)


def _tell_estimate(order: ChecksOrder, config: JudgeConfig) -> None:
    with st.spinner("Counting questions", show_time=True):
        found = resources.read(estimate, tuple(order.transcripts), order.wanted, order.settings, config)
    plain(f"{found}.")
