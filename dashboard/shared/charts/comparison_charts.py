"""Figures of agreement and of comparisons. Independent of Streamlit, which adds fonts and colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import ACCENT, LIMIT, error_bars
from evaluation.agreement.between_raters import RELIABLE, TENTATIVE, ItemAgreement
from evaluation.statistics.intervals import Interval

_ROW_HEIGHT = 44
_HEAD_HEIGHT = 70


@dataclass(frozen=True, slots=True)
class Whisker:
    """One row of a figure of intervals.

    Attributes:
        label: In our own words.
        value: NaN leaves the row empty.
    """

    label: str
    value: float
    interval: Interval


def item_whiskers(items: Sequence[ItemAgreement]) -> list[Whisker]:
    """Alpha of every item, as rows."""
    return [Whisker(one.item.short_label, one.alpha.value, one.alpha.interval) for one in items]


def whisker_figure(rows: Sequence[Whisker], title: str, limits: Sequence[float] = (TENTATIVE, RELIABLE)) -> go.Figure:
    """Dots with their intervals, one row each, the first on top.

    Args:
        rows: What to draw.
        title: Of the axis.
        limits: Dashed lines to read the dots by.
    """
    figure = go.Figure()
    shown = [(place, row) for place, row in enumerate(rows) if not math.isnan(row.value)]
    figure.add_trace(
        go.Scatter(
            x=[row.value for _, row in shown],
            y=[place for place, _ in shown],
            mode="markers",
            name="value",
            marker={"size": 12, "color": ACCENT},
            error_x=error_bars((row.value, row.interval.low, row.interval.high) for _, row in shown),
            text=[whisker_words(row) for _, row in shown],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    for limit in limits:
        figure.add_vline(x=limit, line={"dash": "dash", "width": 1, "color": LIMIT})
    _lay_out(figure, [row.label for row in rows], title)
    low = min([0.0, *(row.value - _below(row) for _, row in shown)])
    figure.update_xaxes(range=[low - 0.05, 1.05])
    return figure


def whisker_words(row: Whisker) -> str:
    """A row in words, for hovering and for people who do not see the figure."""
    if math.isnan(row.value):
        return f"{row.label}: not defined"
    if row.interval.low is None or row.interval.high is None:
        return f"{row.label}: {row.value:.2f}, no interval"
    return f"{row.label}: {row.value:.2f} ({row.interval.low:.2f} to {row.interval.high:.2f})"


def _below(row: Whisker) -> float:
    return 0.0 if row.interval.low is None else max(0.0, row.value - row.interval.low)


def _lay_out(figure: go.Figure, labels: Sequence[str], title: str) -> None:
    figure.update_layout(
        height=_HEAD_HEIGHT + _ROW_HEIGHT * max(2, len(labels)),
        margin={"l": 8, "r": 16, "t": 8, "b": 8},
        showlegend=False,
        hovermode="closest",
        dragmode=False,
    )
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_xaxes(title={"text": title}, zeroline=False, fixedrange=True, automargin=True)
