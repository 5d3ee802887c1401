"""Data of checks and findings: summaries over iterations, their chart, a game's findings. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import KEEP_ZOOM, escaped_label, mean_trace
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
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [0.0 if one.interval.high is None else one.interval.high - one.mean for one in found],
                "arrayminus": [0.0 if one.interval.low is None else one.mean - one.interval.low for one in found],
                "thickness": 1.5,
                "width": 6,
            },
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


def findings(store: Store, transcript_id: str) -> list[dict[str, Any]]:
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
