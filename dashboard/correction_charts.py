"""What the gate did, as figures. Knows nothing of Streamlit."""

from __future__ import annotations

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
_TICKS = {"minute": "%H:%M", "hour": "%d %b %H:00", "day": "%d %b %Y", "month": "%b %Y"}


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
        # Beneath the plot, where it may wrap: beside it, a telephone would have no room for bars.
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        hovermode="closest",
        dragmode=False,
        showlegend=True,
    )
    figure.update_xaxes(type="category", fixedrange=True, automargin=True, nticks=8, showgrid=False)
    figure.update_yaxes(title="messages", rangemode="tozero", tickformat=",d", fixedrange=True, automargin=True)
    return figure


def outcome_alt(counts: pd.DataFrame, step: str) -> str:
    """The figure in words, for people who do not see it."""
    sums = ", ".join(f"{counts[each].sum():,} {OUTCOMES[each]}" for each in GateOutcome if counts[each].sum())
    return f"Checked messages by {step}, {len(counts)} bars: {sums}."
