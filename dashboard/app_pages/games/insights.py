"""The view of a game that shows its graph, activity and memory, and checks by a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.games import checks, graph_data
from dashboard.app_pages.games import insights_data as data
from dashboard.app_pages.games.graph_data import PlayerGraph
from dashboard.app_pages.games.insights_data import OpenGame
from dashboard.shared import resources, state
from dashboard.shared.charts.drawing import draw_chart
from dashboard.shared.notices import plain
from evaluation.errors import InputError
from evaluation.insight.addressing import MessageFilter
from evaluation.insight.figure_sentences import activity_lines, cost_lines, memory_lines, network_lines, share_lines
from evaluation.report import discussion_page, markdown
from evaluation.text.display import counted

_PLAYER = "who"
_CHOSEN = "network_player"
_GRAPH = "network_graph"
EVERYBODY = "Everybody"
_NO_ARROWS = "Nobody addresses anybody: no player is named, answered or written to in private."
_NOBODY = 0


GRAPH, ACTIVITY, CHECKS = "Who addresses whom", "Activity and memory", "Checks and findings"


def insights(transcript_id: str) -> None:
    """Draw the view of one game on its talk: to whom, how much, memory and cost, and checks by a model."""
    view = state.choose_view([GRAPH, ACTIVITY, CHECKS], key="insights", label="Insights")
    if view == CHECKS:
        checks.show(transcript_id)
        return
    try:
        whole = resources.share(data.open_game, transcript_id)
        only = pick_messages(transcript_id, whole.channels, whole.rounds)
        opened = resources.share(data.open_game, transcript_id, only)
    except InputError as error:
        st.error("The figures of this game cannot be computed.")
        plain(str(error))
        return
    if view == ACTIVITY:
        activity(opened)
    else:
        graph(opened.graph)
    downloads(opened)


def pick_messages(key: str, channels: Sequence[str], rounds: Sequence[int]) -> MessageFilter:
    """The channel and the round that figures are about; nothing to choose where there is one of each.

    Args:
        key: Tells the choice from that of other games.
        channels: In which players speak.
        rounds: Their numbers.
    """
    channel, number = None, None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(channels) > 1:
            channel = st.segmented_control("Messages", channels, key=f"channel_{key}", help="All unless chosen.")
        if len(rounds) > 1:
            number = st.selectbox("Round", [None, *rounds], format_func=_round_label, key=f"round_{key}")
    return MessageFilter(channel, number)


def _round_label(number: int | None) -> str:
    return "All rounds" if number is None else f"Round {number}"


def graph(opened: PlayerGraph) -> None:
    """The drawing with its controls, and what it shows as tables."""
    if opened.metrics.network is None:
        st.info("No player says anything here, so there is nothing to draw.")
        return
    chosen = _pick_player(opened)
    if opened.arrows:
        st.caption("Who speaks (rows) to whom (columns): by name, as an answer, or in private. Dots count messages.")
        draw_chart(
            graph_data.picture(opened, chosen),
            key=_GRAPH,
            alt="Messages from each player to each other one; the same stands in the table below",
            on_select=access_checks.event("network_open", partial(_opened, len(opened.players))),
            selection_mode="points",
        )
    else:
        st.caption(_NO_ARROWS)
    if words := graph_data.inner_words(opened):
        st.caption(words)
    if chosen is not None:
        _player(opened, chosen)
    _tables(opened)


def _opened(players: int) -> None:
    points = st.session_state.get(_GRAPH, {}).get("selection", {}).get("points", [])
    place = graph_data.read_place(points[0].get("customdata", [None])[0], players) if points else None
    st.session_state[_CHOSEN] = _NOBODY if place is None else place + 1


def _pick_player(opened: PlayerGraph) -> int | None:
    """The chosen player's place; in the URL players are numbered from 1, and names stay out of it and of keys."""
    numbers = range(len(opened.players) + 1)
    if st.session_state.get(_CHOSEN) not in numbers:
        linked = state.chosen(_PLAYER, [str(number) for number in numbers])
        st.session_state[_CHOSEN] = int(linked) if linked else _NOBODY
    chosen = st.selectbox(
        "Player",
        list(numbers),
        format_func=lambda number: EVERYBODY if number == _NOBODY else opened.players[number - 1],
        key=_CHOSEN,
        help="Or click a dot: its speaker is chosen.",
    )
    state.choose(**{_PLAYER: None if chosen == _NOBODY else str(chosen)})
    return None if chosen == _NOBODY else chosen - 1


def _player(opened: PlayerGraph, chosen: int) -> None:
    out, back = graph_data.chosen_frames(opened, chosen)
    with st.container(border=True):
        plain(opened.players[chosen])
        left, right = st.columns(2)
        with left:
            st.markdown(f"**Addresses {counted(len(out), 'player')}**")
            st.dataframe(out, hide_index=True, alt="Whom the chosen player addresses")
        with right:
            st.markdown(f"**Addressed by {counted(len(back), 'player')}**")
            st.dataframe(back, hide_index=True, alt="Who addresses the chosen player")


def _tables(opened: PlayerGraph) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Who addresses whom", anchor=False)
        st.dataframe(graph_data.pairs_frame(opened), hide_index=True, alt="Messages from one player to another")
    with right:
        st.subheader("As a network", anchor=False)
        lines = data.lines_frame([*network_lines(opened.metrics.network)])
        st.dataframe(lines, hide_index=True, alt="Figures of the network")
    st.subheader("Players in it", anchor=False)
    st.caption("Between others: the share of shortest paths that lead through a player.")
    st.dataframe(graph_data.players_frame(opened), hide_index=True, alt="Every player's place in the network")


def activity(opened: OpenGame) -> None:
    """Activity of all players, memory and cost as far as known, and recommendations."""
    st.subheader("Players", anchor=False)
    frame = data.activity_frame(opened)
    if frame.empty:
        st.info("No player says anything in this game.")
    else:
        st.caption("Sentiment counts English words, from 0 (negative) to 1 (positive); it is not a judgement.")
        st.dataframe(frame, hide_index=True, alt="Every player's messages, their length and sentiment")
    lines = data.lines_frame([*activity_lines(opened.report.metrics), *share_lines(opened.report.shares)])
    st.dataframe(lines, hide_index=True, alt="Who talks most, and how evenly words and turns are shared")
    st.caption("Times an even share: 1 is as much as everybody would say if all said as much, silent ones included.")
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Memory", anchor=False)
        memory = data.lines_frame([*memory_lines(opened.report.metrics)])
        st.dataframe(memory, hide_index=True, alt="Figures of the agents' memories")
        st.caption(
            "Counted as conversations of `experiment` and `ab` run, like calls and tokens; other games do not tell it."
        )
    with right:
        st.subheader("Cost of the game", anchor=False)
        cost = data.lines_frame([*cost_lines(opened.report.metrics)])
        st.dataframe(cost, hide_index=True, alt="Tokens, calls and cost of the game")
        st.caption(
            "As its file says. Of an experiment's conversation: what writing its messages took; what judges were asked "
            "stands in the view Cost."
        )
    agents = data.agents_frame(opened)
    if len(agents):
        st.subheader("By agent", anchor=False)
        st.dataframe(agents, hide_index=True, alt="Memory, calls and tokens of every agent")
    st.subheader("What to look at", anchor=False)
    if not opened.report.recommendations:
        st.text("Nothing stands out.")
    for one in opened.report.recommendations:
        plain(str(one))


def downloads(opened: OpenGame) -> None:
    """The report on the game in three forms, each made when it is asked for."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _download("Report (HTML)", "discussion-report.html", "text/html", lambda: discussion_page(opened.report))
        _download("Markdown", "discussion-report.md", "text/markdown", lambda: markdown(opened.report))
        _download("JSON", "discussion-report.json", "application/json", lambda: _json(opened))


def _json(opened: OpenGame) -> str:
    import json

    return json.dumps(opened.report.as_dict(), ensure_ascii=False, indent=2, default=str)


def _download(label: str, name: str, kind: str, make: Callable[[], str]) -> None:
    access_checks.download_button("insights", label, lambda: make().encode("utf-8"), name, kind, key=name)
