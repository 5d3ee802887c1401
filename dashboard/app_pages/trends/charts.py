"""One agent from run to run, as a figure, in words and as a table.

Independent of Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import KEEP_ZOOM, escaped_label
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.text.display import counted

# Colours of Okabe and Ito, with a shape and a dash of their own for each line.
_LINES = {
    Dimension.ADHERENCE: ("#0072b2", "circle", "solid"),
    Dimension.CONSISTENCY: ("#b04c00", "diamond", "dash"),
    Dimension.FLUENCY: ("#007a5a", "square", "dot"),
    Dimension.CONVERGENCE: ("#9c4a80", "triangle-up", "dashdot"),
}
_OWN_LINE = ("#5b6470", "x", "longdash")
"""Of the dimensions that plug-ins declare."""


def drift_figure(points: pd.DataFrame) -> go.Figure:
    """An agent's scores from run to run, a line per dimension from 0 to 9; ideas are counts and stay out.

    Args:
        points: From ``data.drift_points``.
    """
    figure = go.Figure()
    for dimension in DIMENSIONS:
        if dimension is Dimension.IDEAS_QUANTITY:
            continue
        color, symbol, dash = _LINES.get(dimension, _OWN_LINE)
        own = points[points["dimension"] == str(dimension)]
        if own.empty:
            continue
        figure.add_trace(
            go.Scatter(
                x=own["run"].tolist(),
                y=own["score"].tolist(),
                mode="lines+markers",
                name=LABELS[dimension],
                line={"color": color, "dash": dash, "width": 2},
                marker={"color": color, "symbol": symbol, "size": 10},
                text=[_run_words(row) for row in own.to_dict("records")],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    figure.update_layout(
        height=340,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.25},
        hovermode="closest",
        **KEEP_ZOOM,
    )
    runs = sorted(points["run"].unique())
    figure.update_xaxes(
        title={"text": "run"}, tickvals=runs if len(runs) <= 20 else None, showgrid=False, automargin=True
    )
    figure.update_yaxes(range=[-0.4, 9.4], tickvals=[0, 3, 6, 9], zeroline=False, automargin=True)
    return figure


def _run_words(row: Mapping[object, object]) -> str:
    label = LABELS[Dimension(str(row["dimension"]))]
    when = f"{row['when']:%Y-%m-%d %H:%M}"
    return f"{label} {row['score']:.1f} of 9, run {row['run']} on {when}, {escaped_label(str(row['judge']), 40)}"


def drift_alt(points: pd.DataFrame) -> str:
    """The figure of an agent's runs in words."""
    said = []
    for dimension in DIMENSIONS:
        own = points[points["dimension"] == str(dimension)].sort_values("run")
        if len(own):
            listed = ", ".join(f"{score:.1f}" for score in own["score"])
            said.append(f"{LABELS[dimension]} {listed}")
    return f"Scores of one agent over {counted(points['run'].nunique(), 'run')}: " + "; ".join(said)


def drift_table(points: pd.DataFrame) -> pd.DataFrame:
    """One row per run, the latest first: when, by whom, how many messages, every dimension, and the change since."""
    rows = []
    before: dict[str, float] = {}
    for number, group in points.groupby("run"):
        first = group.iloc[0]
        scores = dict(zip(group["dimension"], group["score"], strict=True))
        row = {"Run": number, "When (UTC)": f"{first['when']:%Y-%m-%d %H:%M}"}
        for dimension in DIMENSIONS:
            row[LABELS[dimension]] = _moved(scores.get(str(dimension)), before.get(str(dimension)))
        rows.append(row | {"Messages": first["sample"], "Judged by": first["judge"]})
        before |= scores
    return pd.DataFrame(rows[::-1])


def _moved(score: float | None, before: float | None) -> str:
    if score is None:
        return "no score"
    return f"{score:.1f}" if before is None else f"{score:.1f} ({score - before:+z.1f})"
