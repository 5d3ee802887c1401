"""Figures of the Trends page besides the one of a single metric: all metrics at once, and one agent over time.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import KEEP_ZOOM, escaped_label
from dashboard.shared.formatting import score_text
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from dashboard.shared.queries import LOOSE
from evaluation.judging.propositions.proposition import Dimension
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT
from evaluation.text.display import counted, shortened

_FARTHEST = 0.4
"""The share of a scale at which the colour is deepest."""
_PALEST, _DEEPEST = 10, 42
"""The share of its colour in a cell, in percent: text on the deepest still has a contrast of more than 4.5:1."""
_Cells = Mapping[tuple[str, int], Mapping[str, float]]
"""The mean and its distance from the threshold, by metric and position."""

_MOST_NAMED, _MOST_WITH_DECIMALS = 8, 10

# Colours of Okabe and Ito, with a shape and a dash of their own for each line.
_LINES = {
    Dimension.ADHERENCE: ("#0072b2", "circle", "solid"),
    Dimension.CONSISTENCY: ("#b04c00", "diamond", "dash"),
    Dimension.FLUENCY: ("#007a5a", "square", "dot"),
    Dimension.CONVERGENCE: ("#9c4a80", "triangle-up", "dashdot"),
}
_OWN_LINE = ("#5b6470", "x", "longdash")
"""Of the dimensions that plug-ins declare."""


def heat_frame(points: pd.DataFrame, thresholds: Mapping[str, float]) -> pd.DataFrame:
    """The mean of every metric in every iteration.

    Args:
        points: As ``queries.trend_points`` gives them.
        thresholds: Today's.

    Returns:
        One row per metric and iteration: ``metric``, ``position``, ``iteration``, ``mean`` (NaN without a score),
        ``games`` (with a score), ``distance`` ((mean - threshold) / width of the scale).
    """
    by = points.groupby(["metric", "position"], sort=True)
    frame = by.agg(iteration=("iteration", "first"), mean=("score", "mean"), games=("score", "count")).reset_index()
    limit = frame["metric"].map(dict(thresholds))
    width = frame["metric"].map({name: one.scale.width for name, one in DEFINITIONS.items()})
    frame["distance"] = (frame["mean"] - limit) / width
    return frame


@dataclass(frozen=True, slots=True)
class HeatMap:
    """All metrics over iterations.

    Attributes:
        data: The payload of the component, for ``heat_cells.js``.
        targets: What each row's marks open; kinds ``metric`` and ``cell``.
    """

    data: Mapping[str, Any]
    targets: tuple[MarkTargets, ...]


def heat_map(frame: pd.DataFrame, thresholds: Mapping[str, float]) -> HeatMap:
    """A cell for every mean, the colour deeper the farther it is from the threshold; a cell opens its games.

    Args:
        frame: From :func:`heat_frame`.
        thresholds: Today's.
    """
    cells = _cells_of(frame)
    iterations = frame.drop_duplicates("position").sort_values("position")
    names = {int(place): str(name) for place, name in zip(iterations["position"], iterations["iteration"], strict=True)}
    rows = [_heat_row(cells, name, names, thresholds) for name in DEFINITIONS if name in set(frame["metric"])]
    heads = [
        f"{place} {shortened(name, 24)}" if len(names) <= _MOST_NAMED else str(place) for place, name in names.items()
    ]
    return HeatMap(
        {"iterations": heads, "rows": [row for row, _ in rows]},
        tuple(targets for _, targets in rows),
    )


def _cells_of(frame: pd.DataFrame) -> _Cells:
    columns = (frame[name].tolist() for name in ("metric", "position", "mean", "distance"))
    rows = zip(*columns, strict=True)
    return {(metric, place): {"mean": mean, "distance": distance} for metric, place, mean, distance in rows}


def _heat_row(
    cells: _Cells, metric: str, names: Mapping[int, str], thresholds: Mapping[str, float]
) -> tuple[dict[str, Any], MarkTargets]:
    drawn: list[dict[str, Any]] = []
    opened: list[MarkTarget] = []
    for place, name in names.items():
        words = _cell(cells, metric, place, thresholds)
        distance = _at(cells, metric, place, "distance")
        share = min(1.0, abs(distance or 0.0) / _FARTHEST)
        drawn.append(
            {
                "text": words if len(names) <= _MOST_WITH_DECIMALS else _whole(cells, metric, place, words),
                "label": f"{shortened(name, 40)}: {words}",
                "color": "gray" if distance is None else "green" if words.startswith("✓") else "red",
                "depth": round(_PALEST + share * (_DEEPEST - _PALEST)),
                "mark": None if distance is None else len(opened),
            }
        )
        if distance is not None:
            opened.append(MarkTarget(metric, iteration="" if name in LOOSE else name))
    told = ", ".join(f"{place} {cell['label']}" for place, cell in zip(names, drawn, strict=True))
    row = {"label": DEFINITIONS[metric].label, "words": f"{DEFINITIONS[metric].label}: {told}", "cells": drawn}
    return row, {"metric": tuple(opened[-1:]), "cell": tuple(opened)}


def _whole(cells: _Cells, metric: str, place: int, words: str) -> str:
    """A cell without decimals, where many stand side by side."""
    mean = _at(cells, metric, place, "mean")
    if mean is None:
        return "–"
    return f"{words[0]} {mean:.0f}" if DEFINITIONS[metric].scale == PERCENT else f"{words[0]} {mean:.1f}"


def _at(cells: _Cells, name: str, place: int, column: str) -> float | None:
    value = float(cells.get((name, place), {}).get(column, math.nan))
    return None if math.isnan(value) else value


def _cell(cells: _Cells, name: str, place: int, thresholds: Mapping[str, float]) -> str:
    mean = _at(cells, name, place, "mean")
    if mean is None:
        return "no score"
    symbol = "✓" if mean >= thresholds[name] - 1e-9 else "✗"
    return f"{symbol} {score_text(mean, DEFINITIONS[name].scale, thresholds[name])}"


def heat_table(frame: pd.DataFrame, thresholds: Mapping[str, float]) -> pd.DataFrame:
    """The heat map as a table: one row per iteration."""
    cells = _cells_of(frame)
    rows = [
        {"No.": place, "Iteration": group["iteration"].iloc[0]}
        | {one.label: _cell(cells, name, int(str(place)), thresholds) for name, one in DEFINITIONS.items()}
        for place, group in frame.groupby("position")
    ]
    return pd.DataFrame(rows)


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
    return f"{score:.1f}" if before is None else f"{score:.1f} ({score - before:+.1f})"
