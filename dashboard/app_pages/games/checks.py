"""Checks of messages, opinions, themes and quotes: the form that starts them, their chart, and a game's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared import queries, resources, state
from dashboard.shared.charts.metric_charts import KEEP_ZOOM, error_bars, escaped_label, mean_trace
from dashboard.shared.drawing import draw_chart
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_form import judge_in_force, limit_inputs, start_judging
from dashboard.shared.jobs.judging_jobs import CHECKS, ChecksOrder
from dashboard.shared.notices import plain, tell_beyond
from dashboard.shared.status_table import csv_download, status_table
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import Wanted
from evaluation.insight.validator import EVERYBODY, CheckSummary
from evaluation.judging.judge_config import JudgeConfig
from evaluation.statistics.words import interval_words, percent_interval
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.insights import estimate_insights, stored_check_summaries

NO_ITERATION = "no iteration"
CHECK_LABELS = {"persona_adherence": "Persona adherence", "consistency": "Consistency", "coherence": "Coherence"}


def summaries(store: Store) -> list[CheckSummary]:
    """All stored checks, summed up by iteration, check and player."""
    return stored_check_summaries(store)


def estimate(
    store: Store, transcript_ids: Sequence[str], wanted: Wanted, share: float, most: int, seed: int, judge: JudgeConfig
) -> str:
    """The expected questions, calls and cost of a run, in a sentence."""
    config = EvaluationConfig(validation_sampling_rate=share, max_validation_calls=most, seed=seed)
    return estimate_insights(store, transcript_ids, wanted, config, judge).words


def players(found: Sequence[CheckSummary]) -> list[str]:
    """The entry for all players, then those with checks by name."""
    return sorted({one.agent for one in found} | {EVERYBODY})


def of_player(found: Sequence[CheckSummary], check: str, agent: str) -> list[CheckSummary]:
    """One check of one player, in the order of iterations."""
    return [one for one in found if (one.check_type, one.agent) == (check, agent)]


def summary_rows(found: Sequence[CheckSummary]) -> list[dict[str, object]]:
    """One row per iteration, check and player."""
    return [
        {
            "Iteration": one.iteration or NO_ITERATION,
            "Check": CHECK_LABELS.get(one.check_type, one.check_type),
            "Player": "everybody" if one.agent == EVERYBODY else one.agent,
            "n": one.n,
            "Games": one.games,
            "Pass rate": f"{100 * one.pass_rate:.0f} % ({one.passed} of {one.n})",
            "Its 95 % interval": percent_interval(one.pass_interval),
            "Mean": f"{one.mean:.2f}",
            "95 % interval": interval_words(one.interval, digits=2),
        }
        for one in found
    ]


def words(one: CheckSummary) -> str:
    """A summary as a sentence without names."""
    return (
        f"mean {one.mean:.2f} ({interval_words(one.interval, digits=2)}), {100 * one.pass_rate:.0f} % passed, "
        f"{counted(one.n, 'check')} in {counted(one.games, 'game')}"
    )


def check_figure(found: Sequence[CheckSummary], check: str) -> go.Figure:
    """The mean of one check over iterations with its interval over games, and the share of checks that passed."""
    places = list(range(len(found)))
    texts = [f"{escaped_label(one.iteration or NO_ITERATION)}: {words(one)}" for one in found]
    figure = go.Figure(
        mean_trace(
            places,
            [one.mean for one in found],
            texts,
            error_y=error_bars(((one.mean, one.interval.low, one.interval.high) for one in found), thickness=1.5),
        )
    )
    figure.add_trace(
        go.Scatter(
            x=places,
            y=[one.pass_rate for one in found],
            mode="lines+markers",
            name="share passed",
            line={"dash": "dot", "width": 2, "color": "#007a5a"},
            marker={"size": 9, "symbol": "square", "color": "#007a5a"},
            text=texts,
            hovertemplate="%{text}<extra></extra>",
        )
    )
    figure.update_layout(
        **KEEP_ZOOM,
        height=340,
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={
            "tickvals": places,
            "ticktext": [escaped_label(one.iteration or NO_ITERATION) for one in found],
            "range": [-0.5, len(found) - 0.5],
            "automargin": True,
        },
        yaxis={"title": {"text": f"{CHECK_LABELS.get(check, check)} (0 to 1)"}, "range": [-0.04, 1.04]},
    )
    return figure


def figure_alt(found: Sequence[CheckSummary], check: str) -> str:
    """The figure in words, without names of players."""
    parts = [f"{escaped_label(one.iteration or NO_ITERATION)}: {words(one)}" for one in found]
    return f"{CHECK_LABELS.get(check, check)} over iterations. {'. '.join(parts)}."


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


def over_iterations(found: Sequence[CheckSummary]) -> None:
    """The means of stored checks over iterations."""
    st.subheader("Checks over iterations", anchor=False)
    left, right = st.columns(2)
    kinds = [kind for kind in CHECK_LABELS if any(one.check_type == kind for one in found)]
    names = players(found)
    check = left.selectbox("Check", kinds, format_func=CHECK_LABELS.__getitem__, key="shown_check")
    place = right.selectbox(
        "Player of the chart",
        range(len(names)),
        format_func=lambda at: "Everybody" if names[at] == EVERYBODY else names[at],
        key="shown_check_player",
    )
    chosen = of_player(found, check, names[place])
    if chosen:
        draw_chart(
            check_figure(chosen, check),
            key="checks_over_iterations",
            alt=figure_alt(chosen, check),
        )
    else:
        st.info("No message of this player got a score on this check.")
    st.caption(
        "The mean is that of games, with its 95 % interval over games; one game has none. The share that passed counts "
        "checks, with an interval as if they were independent. The latest sample of each game counts."
    )
    rows = summary_rows(found)
    status_table(rows, "Every check of every player by iteration: n, pass rate, mean, intervals")
    csv_download("Download the table", lambda: rows, "checks.csv")


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
    """A button that opens what a model can be asked, and below it the checks that are stored of all iterations."""
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
        if found := resources.read(summaries):
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
    wanted = Wanted(order.checks, order.topic, order.themes, order.criteria)
    with st.spinner("Counting questions", show_time=True):
        found = resources.read(
            estimate,
            tuple(order.transcripts),
            wanted,
            order.share,
            order.checks_per_game,
            order.seed,
            config,
        )
    plain(f"{found}.")
