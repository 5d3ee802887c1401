"""Scores beside chance on Trends and Compare: the score by chance, companions, and the games that wait for them.

Independent of Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.metric_charts import (
    CHANCE,
    KEEP_ZOOM,
    escaped_label,
    game_trace,
    games_of_dots,
    mean_trace,
    name_iterations,
    trend_alt,
    trend_figure,
)
from evaluation.comparison import IterationComparison
from evaluation.rubric.controls import COMPANION_LABELS, ControlSummary, control_words, summarise_controls
from evaluation.rubric.controls.words import number_words
from evaluation.rubric.verdict import metric_control
from evaluation.score import PERCENT, MetricDefinition
from evaluation.text.display import counted

POINT_COLUMNS = ("chance", "companion", "control")
"""What a table of games holds beside ``score``: the score by chance, the companion (both NaN where unknown), and the
whole control (``None`` while it is not computed)."""


def control_cells(control: Mapping[str, Any] | None) -> dict[str, Any]:
    """The columns of ``POINT_COLUMNS`` for one game and metric."""
    beside = (control or {}).get("companion") or {}
    return {"chance": (control or {}).get("chance"), "companion": beside.get("value"), "control": control}


@dataclass(frozen=True, slots=True)
class SideControls:
    """One iteration's games beside chance.

    Attributes:
        position: Where it stands on the axis.
        iteration: Its name: untrusted text.
    """

    position: int
    iteration: str
    summary: ControlSummary


def sides_of(points: pd.DataFrame) -> list[SideControls]:
    """One metric beside chance, iteration by iteration.

    Args:
        points: One row per game: ``position``, ``iteration``, ``score`` and the columns of ``POINT_COLUMNS``.
    """
    scored = points.dropna(subset=["score"])
    return [
        SideControls(int(str(place)), str(group["iteration"].iloc[0]), summarise_controls(group["control"]))
        for place, group in scored.groupby("position")
    ]


def waiting_games(points: pd.DataFrame) -> list[str]:
    """The names of games with a score that was not compared with chance yet, in their order, each once."""
    waits = points["score"].notna() & points["control"].isna()
    return list(dict.fromkeys(points.loc[waits, "game"].map(str)))


def compared_points(found: IterationComparison, metric: str) -> pd.DataFrame:
    """One metric of the games of both sides, as :func:`sides_of` takes them; before is 1, after is 2."""
    rows = [
        {"position": place, "iteration": side.iteration.name, "game": game.name, "score": scored.score}
        | control_cells(metric_control(scored))
        for place, side in enumerate((found.before, found.after), start=1)
        for game in side.games
        if (scored := game.metrics.get(metric)) is not None
    ]
    columns = ["position", "iteration", "game", "score", *POINT_COLUMNS]
    return pd.DataFrame(rows, columns=columns).astype({"score": float, "chance": float, "companion": float})


def chance_figure(
    points: pd.DataFrame, definition: MetricDefinition, threshold: float | None, changes: Mapping[str, str]
) -> go.Figure:
    """:func:`dashboard.shared.charts.metric_charts.trend_figure` with the mean score by chance as open triangles."""
    figure = trend_figure(points, definition, threshold, changes)
    unit = " %" if definition.scale == PERCENT else ""
    figure.add_trace(chance_trace([(side, side.summary.chance) for side in sides_of(points)], unit))
    return figure


def chance_alt(points: pd.DataFrame, definition: MetricDefinition, threshold: float | None) -> str:
    """The same in words. Iterations are numbered: names are untrusted text."""
    return f"{trend_alt(points, definition, threshold)}. Beside chance: {_numbered(points)}"


def companion_label(points: pd.DataFrame) -> str:
    """The name of the companion; empty where no game has one."""
    names = (side.summary.companion for side in sides_of(points))
    return next((COMPANION_LABELS.get(name, name) for name in names if name), "")


def companion_figure(points: pd.DataFrame, metric: str) -> go.Figure:
    """The companion over iterations: a dot per game, the means as a line, what chance gives as open triangles.

    Args:
        points: As for :func:`sides_of`, with ``game``.
        metric: Whose companion it is.
    """
    known = points.dropna(subset=["score", "companion"])
    sides = sides_of(points)
    figure = go.Figure()
    figure.add_trace(_dots(known, metric))
    figure.add_trace(_means(sides))
    figure.add_trace(chance_trace([(side, side.summary.companion_chance) for side in sides], ""))
    names = points.drop_duplicates("position").sort_values("position")
    figure.update_layout(
        height=190, margin={"l": 8, "r": 58, "t": 8, "b": 8}, showlegend=False, hovermode="closest", **KEEP_ZOOM
    )
    name_iterations(figure, names)
    figure.update_yaxes(zeroline=False, automargin=True, nticks=5)
    return figure


def _dots(known: pd.DataFrame, metric: str) -> go.Scatter:
    drawn = games_of_dots(known, "companion")
    games = zip(drawn["game"], drawn["score"], drawn["control"], drawn["dots"], strict=True)
    texts = [
        f"{escaped_label(game, 40)}: {control_words(metric, score, control)}{_and_more(dots)}"
        for game, score, control, dots in games
    ]
    return game_trace(drawn, "companion", texts)


def _and_more(dots: int) -> str:
    return f", and {counted(dots - 1, 'game')} close above it" if dots > 1 else ""


def _means(sides: list[SideControls]) -> go.Scatter:
    known = [(side, side.summary.value) for side in sides if side.summary.value is not None]
    places, values = [side.position for side, _ in known], [value for _, value in known]
    return mean_trace(places, values, [side.summary.words for side, _ in known])


def chance_trace(values: list[tuple[SideControls, float | None]], unit: str) -> go.Scatter:
    """Scores by chance, as open triangles on a dotted line.

    Args:
        values: The mean by chance of each side; ``None`` draws none.
        unit: After the number: " %" or nothing.
    """
    known = [(side, value) for side, value in values if value is not None]
    return go.Scatter(
        x=[side.position for side, _ in known],
        y=[value for _, value in known],
        mode="lines+markers",
        name="by chance",
        line={"width": 2, "color": CHANCE, "dash": "dot"},
        marker={"size": 11, "symbol": "triangle-up-open", "color": CHANCE, "line": {"width": 2}},
        text=[f"by chance {number_words(value)}{unit}" for _, value in known],
        hovertemplate="%{text}<extra></extra>",
    )


def companion_alt(points: pd.DataFrame) -> str:
    """The figure of a companion in words. Iterations are numbered: names are untrusted text."""
    return f"Companion over iterations, {companion_label(points)}. " + _numbered(points)


def _numbered(points: pd.DataFrame) -> str:
    said = []
    for number, side in enumerate(sides_of(points), start=1):
        chance = side.summary.chance
        by_chance = "" if chance is None else f", {number_words(chance)} % by chance"
        said.append(f"iteration {number}: {side.summary.words or 'not compared with chance'}{by_chance}")
    return "; ".join(said)


def waiting_words(games: list[str], most: int = 5) -> str:
    """Names the games not compared with chance yet, in a sentence; empty without any. Names are untrusted text."""
    if not games:
        return ""
    more = f" and {len(games) - most} more" if len(games) > most else ""
    listed = ", ".join(games[:most])
    return f"{counted(len(games), 'game')} not compared with chance yet, so nothing is added for: {listed}{more}"
