"""DataFrames to plotly figures. Knows nothing of Streamlit, which adds the fonts and the colours of the theme."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pandas as pd
import plotly.graph_objects as go

from dashboard.formatting import counted, score_text, shortened, threshold_text
from evaluation.score import PERCENT, MetricDefinition
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words

ACCENT = "#6d63e0"
NEUTRAL = "#8a8798"
LIMIT = "#c2500f"
_LABEL_LENGTH = 18
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def inert_label(text: str, limit: int = _LABEL_LENGTH) -> str:
    """``text`` as plotly may show it: plotly reads tags in labels (links among them), so they become entities."""
    return html.escape(_CONTROL.sub(" ", shortened(text, limit)), quote=False)


def trend_figure(points: pd.DataFrame, definition: MetricDefinition, threshold: float) -> go.Figure:
    """One metric over iterations: a dot per game, the means with their 95 % intervals as a line, the threshold dashed.

    Args:
        points: One row per game: ``position`` (int, order of the iteration), ``iteration`` (name), ``game`` (label),
            ``score`` (on the metric's scale, NaN when pending or not applicable). Games without a score are left out.
        definition: The metric; its scale sets the axis.
        threshold: The threshold of today.

    Returns:
        A figure with the traces "game" and "mean". Without any score both are empty.
    """
    scored = points.dropna(subset=["score"])
    figure = go.Figure()
    figure.add_trace(_game_dots(scored, definition))
    figure.add_trace(_mean_line(scored, definition))
    _draw_threshold(figure, threshold, definition)
    _lay_out(figure, points, definition)
    return figure


def _game_dots(scored: pd.DataFrame, definition: MetricDefinition) -> go.Scatter:
    rank = scored.groupby("position").cumcount()
    size = scored.groupby("position")["score"].transform("size")
    # Games of one iteration stand side by side, so that equal scores stay visible.
    beside = (rank - (size - 1) / 2) * (0.3 / size.clip(lower=3))
    return go.Scatter(
        x=scored["position"] + beside,
        y=scored["score"],
        mode="markers",
        name="game",
        marker={"size": 9, "color": NEUTRAL, "opacity": 0.75, "line": {"width": 1, "color": "white"}},
        text=[
            f"{inert_label(game, 40)}: {score_text(score, definition.scale)}"
            for game, score in zip(scored["game"], scored["score"], strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _mean_line(scored: pd.DataFrame, definition: MetricDefinition) -> go.Scatter:
    sides = {place: mean_interval(games, limits=_limits(definition)) for place, games in _by_place(scored)}
    means = scored.groupby("position")["score"].mean()
    counts = scored.groupby("position")["score"].size()
    return go.Scatter(
        x=means.index,
        y=means,
        mode="lines+markers",
        name="mean",
        line={"width": 3, "color": ACCENT},
        marker={"size": 11, "symbol": "diamond", "color": ACCENT},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [_reach(sides[place].high, means[place]) for place in means.index],
            "arrayminus": [_reach(sides[place].low, means[place]) for place in means.index],
            "color": ACCENT,
            "thickness": 1.5,
            "width": 6,
        },
        text=[
            f"mean {score_text(means[place], definition.scale)} of {counted(counts[place], 'game')}, "
            f"95 % interval {interval_words(sides[place])}"
            for place in means.index
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _by_place(scored: pd.DataFrame) -> Iterator[tuple[int, list[float]]]:
    for place, games in scored.groupby("position")["score"]:
        yield int(place), games.tolist()


def _limits(definition: MetricDefinition) -> tuple[float, float]:
    return definition.scale.low, definition.scale.high


def _reach(end: float | None, mean: float) -> float:
    return 0.0 if end is None else abs(end - mean)


def _draw_threshold(figure: go.Figure, threshold: float, definition: MetricDefinition) -> None:
    figure.add_hline(
        y=threshold,
        line={"dash": "dash", "width": 2, "color": LIMIT},
        annotation={
            # In the margin, where no game can lie under it.
            "text": f"≥ {threshold:g}" + (" %" if definition.scale == PERCENT else ""),
            "font": {"size": 12},
            "x": 1.01,
            "xanchor": "left",
            "yanchor": "middle",
        },
    )


def _lay_out(figure: go.Figure, points: pd.DataFrame, definition: MetricDefinition) -> None:
    names = points.drop_duplicates("position").sort_values("position")
    scale = definition.scale
    margin = 0.04 * scale.width
    ticks = [0, 25, 50, 75, 100] if scale == PERCENT else [1, 2, 3, 4, 5]
    figure.update_layout(
        height=280,
        margin={"l": 8, "r": 58, "t": 8, "b": 8},
        showlegend=False,
        hovermode="closest",
        dragmode=False,
    )
    figure.update_xaxes(
        tickvals=names["position"].tolist(),
        ticktext=[inert_label(name) for name in names["iteration"]],
        range=[names["position"].min() - 0.5, names["position"].max() + 0.5] if len(names) else None,
        showgrid=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(
        range=[scale.low - margin, scale.high + margin],
        tickvals=ticks,
        ticktext=[f"{tick} %" for tick in ticks] if scale == PERCENT else [str(tick) for tick in ticks],
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )


def trend_alt(points: pd.DataFrame, definition: MetricDefinition, threshold: float) -> str:
    """The figure in words, for people who do not see it. Iterations are numbered: names are untrusted text."""
    parts = []
    for number, (_, games) in enumerate(points.groupby("position"), start=1):
        scores = games["score"].dropna()
        mean = (
            f"mean {score_text(scores.mean(), definition.scale)} of {counted(len(scores), 'game')}"
            if len(scores)
            else "no score"
        )
        parts.append(f"iteration {number}: {mean}")
    return f"{definition.label} over iterations, threshold {threshold_text(threshold, definition.scale)}. " + "; ".join(
        parts
    )
