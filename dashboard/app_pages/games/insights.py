"""The Insights of a game: who talks to whom, shares, memory and cost where they are known, and a model's findings."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.games import checks
from dashboard.app_pages.games import insights_data as data
from dashboard.app_pages.games.insights_data import OpenGame
from dashboard.app_pages.games.ledger_row import choose_message
from dashboard.shared import resources
from dashboard.shared.drawing import draw_chart
from dashboard.shared.notices import plain, words_of
from dashboard.shared.status_table import status_table
from evaluation.errors import InputError
from evaluation.insight.recommendations import (
    AGENT_HEADERS,
    activity_lines,
    agent_rows,
    cost_lines,
    memory_lines,
    network_lines,
)
from evaluation.insight.report_sections import discussion_markdown
from evaluation.text.display import shortened

_ARROW = "insights_arrow"
_GRAPH = "insights_graph"
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
    checks.findings(transcript_id)
    checks.form(transcript_id)
    _numbers(opened)


def _who_talks_to_whom(opened: OpenGame) -> None:
    st.subheader("Who talks to whom", anchor=False)
    if not opened.arrows:
        st.caption("Nobody addresses anybody: no player is named, answered or written to in private.")
        return
    places = range(len(opened.arrows))
    if st.session_state.get(_ARROW) not in places:
        st.session_state[_ARROW] = None
    st.caption("Rows speak to columns: by name, as an answer, or in private. Select a dot to read its messages.")
    draw_chart(
        data.picture(opened, st.session_state[_ARROW]),
        key=_GRAPH,
        alt="Messages from each player to each other one; the list below has the same",
        on_select=access_checks.event("network_open", partial(_open_dot, len(places))),
        selection_mode="points",
    )
    chosen = st.selectbox(
        "Read the messages of",
        places,
        index=None,
        format_func=lambda place: opened.words(opened.arrows[place]),
        key=_ARROW,
        placeholder="Choose a speaker and whom they address, or a dot above",
    )
    if chosen is not None:
        _messages(opened, chosen)


def _open_dot(places: int) -> None:
    points = st.session_state.get(_GRAPH, {}).get("selection", {}).get("points", [])
    st.session_state[_ARROW] = data.read_place(points[0].get("customdata", [None])[0], places) if points else None


def _messages(opened: OpenGame, chosen: int) -> None:
    messages = opened.arrows[chosen].messages
    with st.container(border=True):
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
    metrics = opened.report.metrics
    plain(data.known_words(activity_lines(metrics)))
    rows = data.share_rows(opened)
    shares = opened.report.shares
    words = [shares.share_of_words(player) if player in shares.words else None for player in opened.players]
    most = max((share for share in words if share), default=1.0)
    bars = {"Share of words": [None if share is None else share / most for share in words]} if any(words) else None
    status_table(rows, "Every player's messages and share of the words", bars=bars)
    if rows and "Sentiment" in rows[0]:
        st.caption("Sentiment: the share of positive words among the positive and negative English ones, from 0 to 1.")
    for one in opened.report.recommendations:
        plain(str(one))


def _memory_and_cost(opened: OpenGame) -> None:
    metrics = opened.report.metrics
    known = {"Memory": data.known_words(memory_lines(metrics)), "Cost": data.known_words(cost_lines(metrics))}
    missing = [name.lower() for name, words in known.items() if not words]
    for name, words in known.items():
        if words:
            st.subheader(name, anchor=False)
            plain(words)
    if agents := [dict(zip(AGENT_HEADERS, row, strict=True)) for row in agent_rows(metrics)]:
        status_table(agents, "Memory, calls and tokens of every agent")
    if missing:
        st.caption(f"Not shown, as the uploaded file does not record it: {' and '.join(missing)} of the agents.")


def _numbers(opened: OpenGame) -> None:
    with st.expander("Show the numbers", key="insights_numbers"):
        network = opened.report.metrics.network
        if network is not None:
            lines = [{"What": what, "Figure": figure} for what, figure in network_lines(network)]
            status_table(lines, "Figures of the network")
            st.caption("Between others: the share of shortest paths that lead through a player.")
            status_table(data.network_rows(opened), "Every player's place in the network")
        with st.container(horizontal=True):
            _download("Report (Markdown)", "md", "text/markdown", lambda: discussion_markdown(opened.report))
            _download("JSON", "json", "application/json", lambda: _json(opened))


def _json(opened: OpenGame) -> str:
    return json.dumps(opened.report.as_dict(), ensure_ascii=False, indent=2, default=str)


def _download(label: str, ending: str, kind: str, make: Callable[[], str]) -> None:
    name = f"discussion-report.{ending}"
    access_checks.download_button("insights", label, lambda: make().encode("utf-8"), name, kind, key=name)
