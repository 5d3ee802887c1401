"""Figures of the gate's outcomes. Independent of Streamlit."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from evaluation.corrections.attempts import GateOutcome
from evaluation.corrections.wording import OUTCOMES

# Okabe and Ito's colours, told apart by people who see fewer colours; the patterns hold on a printed page, too.
_LOOKS = {
    GateOutcome.PASSED: ("#009e73", ""),
    GateOutcome.PASSED_AFTER_RETRY: ("#56b4e9", "/"),
    GateOutcome.CORRECTED: ("#e69f00", "x"),
    GateOutcome.FORCED_THROUGH: ("#d55e00", "\\"),
    GateOutcome.TIMEOUT_PASS_THROUGH: ("#999999", "."),
}
# Two short lines each, so that they stand upright on a telephone, too.
_TICKS = {"minute": "%H:%M<br>%d %b", "hour": "%H:00<br>%d %b", "day": "%d %b<br>%Y", "month": "%b<br>%Y"}
_MOST_TICKS = 5


def outcome_figure(counts: pd.DataFrame, step: str) -> go.Figure:
    """Messages by time as stacked bars, a trace per outcome; outcomes that never came are left out.

    Args:
        counts: One row per step: ``at`` (UTC), and a count per outcome; as ``corrections.over_time`` gives it.
        step: "minute", "hour", "day" or "month".
    """
    figure = go.Figure()
    labels = [f"{at:{_TICKS[step]}}" for at in counts["at"]]
    for outcome, (color, pattern) in _LOOKS.items():
        if counts[outcome].sum():
            figure.add_trace(
                go.Bar(
                    x=labels,
                    y=counts[outcome],
                    name=OUTCOMES[outcome],
                    marker={"color": color, "pattern": {"shape": pattern, "size": 5, "solidity": 0.35}},
                    hovertemplate="%{x}: %{y} " + OUTCOMES[outcome] + "<extra></extra>",
                )
            )
    figure.update_layout(
        height=320,
        barmode="stack",
        bargap=0.25,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        # Above the plot, where it may wrap: beside it, a telephone would have no room for bars.
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        hovermode="closest",
        dragmode=False,
        showlegend=True,
    )
    shown = labels[:: math.ceil(len(labels) / _MOST_TICKS) or 1]
    figure.update_xaxes(
        type="category",
        categoryarray=labels,
        tickvals=shown,
        tickangle=0,
        fixedrange=True,
        automargin=True,
        showgrid=False,
    )
    highest = int(counts[list(GateOutcome)].sum(axis=1).max() or 0)
    figure.update_yaxes(
        title="messages", rangemode="tozero", dtick=_step(highest), tickformat=",d", fixedrange=True, automargin=True
    )
    return figure


def _step(highest: int) -> int:
    """The distance of the ticks up to ``highest``: 1, 2 or 5 times a power of ten, so that at most six are drawn."""
    wanted = max(1.0, highest / 5)
    power: int = 10 ** math.floor(math.log10(wanted))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted)


def outcome_alt(counts: pd.DataFrame, step: str) -> str:
    """The figure in words, for people who do not see it."""
    sums = ", ".join(f"{counts[each].sum():,} {OUTCOMES[each]}" for each in GateOutcome if counts[each].sum())
    return f"Checked messages by {step}, {len(counts)} bars: {sums}."
