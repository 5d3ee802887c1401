"""Figures of experiments: differences with intervals beside the paper's. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import ACCENT, LIMIT, NEUTRAL

_ROW_HEIGHT = 48
_HEAD_HEIGHT = 110
_SHIFT = 0.16


def difference_figure(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Treatment minus control of every dimension with its 95 % interval, and the paper's difference as a diamond."""
    figure = go.Figure()
    known = [(place, row) for place, row in enumerate(rows) if row["difference"] is not None]
    figure.add_trace(
        go.Scatter(
            x=[row["difference"] for _, row in known],
            y=[place for place, _ in known],
            mode="markers",
            name="here, with 95 % interval",
            marker={"size": 11, "color": ACCENT},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_span(row["difference_high"], row["difference"]) for _, row in known],
                "arrayminus": [_span(row["difference"], row["difference_low"]) for _, row in known],
                "color": ACCENT,
                "thickness": 2,
                "width": 6,
            },
            text=[difference_words(row) for _, row in known],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    theirs = [(place, row["published"]["difference"]) for place, row in enumerate(rows) if row["published"]]
    if theirs:
        figure.add_trace(
            go.Scatter(
                x=[value for _, value in theirs],
                y=[place + _SHIFT for place, _ in theirs],
                mode="markers",
                name="in the paper",
                marker={"size": 10, "symbol": "diamond-open", "color": NEUTRAL, "line": {"width": 2}},
                hovertemplate="paper: %{x:+.2f}<extra></extra>",
            )
        )
    figure.add_vline(x=0, line={"color": LIMIT, "dash": "dash", "width": 1})
    figure.update_layout(
        height=_HEAD_HEIGHT + _ROW_HEIGHT * len(rows),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"title": {"text": "treatment minus control"}, "zeroline": False},
        yaxis={
            "tickvals": list(range(len(rows))),
            "ticktext": [str(row["label"]) for row in rows],
            "range": [len(rows) - 0.5, -0.5],
            "automargin": True,
        },
    )
    return figure


def difference_words(row: Mapping[str, Any]) -> str:
    """One row in words: "Fluency: +1.20, 95 % interval +0.40 to +2.00, higher; paper -0.52"."""
    if row["difference"] is None:
        return f"{row['label']}: cannot be compared"
    low, high = row["difference_low"], row["difference_high"]
    interval = f", 95 % interval {low:+.2f} to {high:+.2f}" if low is not None and high is not None else ""
    paper = f"; paper {row['published']['difference']:+.2f}" if row["published"] else ""
    return f"{row['label']}: {row['difference']:+.2f}{interval}, {row['outcome']}{paper}"


def difference_alt(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figure in words."""
    return "Treatment minus control. " + ". ".join(difference_words(row) for row in rows) + "."


def _span(high: float | None, low: float | None) -> float:
    return 0.0 if high is None or low is None else high - low
