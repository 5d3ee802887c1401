"""DataFrames to plotly figures. Independent of Streamlit, which adds fonts and colours."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.formatting import USD, look, score_text, threshold_text
from dashboard.shared.queries import LOOSE, NO_ITERATION, SIMULATED
from evaluation.escaping import safe
from evaluation.judged_by import Judges, have_one_judge
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.score import AT_CHANCE, LIKERT, PERCENT, MetricDefinition, Scale
from evaluation.statistics.comparison import Difference, Outcome
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import change_of, interval_words
from evaluation.text.display import counted, shortened

Steps = Mapping[tuple[str, str], Mapping[str, Difference]]
"""The differences of each iteration from its reference, by both names, the reference first."""

ACCENT = "#000001"
"""Streamlit's browser side puts the theme's first colour of charts in its place, light and dark."""
NEUTRAL = "#8a8798"
LIMIT = "#77748a"
"""A threshold: of no colour that says good or bad."""
FAILING_SIDE = "rgba(128, 126, 148, 0.13)"
TEXT = "#000037"
"""Streamlit's browser side puts the theme's text colour in the place of this one, light and dark. Its own choice for
the labels of axes has a contrast of 3.7:1 on white."""
KEEP_ZOOM = {"uirevision": "kept", "dragmode": False}
"""Layout of figures that can be zoomed: what a person chose survives a rerun. Dragging scrolls the page until the zoom
tool is taken, or a phone could not pass the figure."""

MOST_DOTS = 2_000
"""Dots of one chart: a browser takes seconds to draw more, and they would hide each other."""

_BINS = 50
_LABEL_LENGTH = 18
_NAMES_FIT = 45
"""Characters side by side in a line of a chart on a phone."""
_MOST_NAMES = 16
"""Names that stand at an angle side by side on a phone; of more, every second, third and so on to the last."""
_HEAD_HEIGHT = 28
"""Room for the chart's own tools, which would cover words."""
_ROW_HEIGHT = 176
_MOST_WITH_FIGURES = 8
_ANGLED_HEIGHT = 92
"""Room for names at an angle."""
_REACH = 0.1
"""The share of a scale that an axis goes beyond its ends."""
_FIGURES = 0.2
"""The share of a scale that the figures of the means take above it: no line or dot lies there."""


def escaped_label(text: str, limit: int = _LABEL_LENGTH) -> str:
    """``text`` as plotly may show it: plotly reads tags in labels (links among them), so they become entities."""
    # Its labels do not read the entities of quotation marks.
    return html.escape(safe(shortened(text, limit)), quote=False)


def trend_figure(
    points: pd.DataFrame,
    definitions: Mapping[str, MetricDefinition],
    thresholds: Mapping[str, float],
    changes: Mapping[str, str] = MappingProxyType({}),
    aside: Collection[str] = (),
    goals: Mapping[str, float] = MappingProxyType({}),
    fates: Mapping[str, str] = MappingProxyType({}),
    steps: Steps = MappingProxyType({}),
    at_chance: Collection[tuple[str, str]] = (),
) -> go.Figure:
    """Metrics over iterations, a row each: a dot per game, the means with their 95 % intervals, the threshold dashed.

    Each row has the whole scale of its metric, so that rows on the same scale compare. A line joins the means of each
    step: in colour where they differ beyond luck, else gray and thin. The means stand above it, of many iterations
    those of its ends; one without any score says so, and why when pointed at.

    Args:
        points: One row per game and metric: ``metric``, ``position`` (int, order of the iteration), ``iteration``
            (name), ``game`` (label), ``score`` (on the metric's scale, NaN when pending or not applicable), and where
            known ``raters`` (how many people rated it). Games without a score are left out.
        definitions: The metrics in their order; their scales set the axes.
        thresholds: Those of today; a metric that is missing has none.
        changes: What each iteration changed, by its name; its means tell it when pointed at.
        aside: Names of iterations that later ones do not build on; their means are open circles, those of the games of
            no iteration gray diamonds.
        goals: Values to reach that fail no game, dotted.
        fates: What was decided on each iteration, by its name, in words below it.
        steps: How each iteration differs from its reference.
        at_chance: Metrics with the names of iterations whose means are no better than scrambled copies, and say so.

    Returns:
        A figure with the traces "game" and "mean" of each metric in turn, empty without any score, then their figures.
    """
    iterations = points.groupby("position")["iteration"].first()
    of_metric = {str(name): games for name, games in points.groupby("metric", sort=False)}
    labels = {str(game): escaped_label(str(game), 40) for game in points["game"].unique()}
    # Plotly takes most of the time for what is added one by one, and for looking whether it is valid.
    traces: list[dict[str, object]] = []
    figures: list[dict[str, object]] = []
    layout: dict[str, object] = {}
    shapes: list[dict[str, object]] = []
    joined: list[dict[str, object]] = []
    written: list[dict[str, object]] = []
    places = [int(place) for place in iterations.index] or [1]
    span = {"x0": places[0] - 0.5, "x1": places[-1] + 0.5}
    names_axis, names_height = _names_axis(iterations, fates, [*span.values()])
    for row, (name, definition) in enumerate(definitions.items(), start=1):
        games = of_metric.get(name, points.head(0))
        scored = games.dropna(subset=["score"])
        means = _means(scored, definition, iterations, changes, aside, steps)
        axes = {"xaxis": _axis(row, "x"), "yaxis": _axis(row)}
        traces += [_game_dots(scored, definition, labels) | axes, means | axes]
        signs = {at: _CHANCE_SIGN for metric, at in at_chance if metric == name}
        signs |= {at: _sign(found[name]) for (_, at), found in steps.items() if name in found and _sign(found[name])}
        figures.append(_figures(means, games, definition, iterations, aside, signs) | axes)
        joined += _step_lines(name, means, iterations, steps, row, _judges_by_place(scored))
        is_cost = definition.scale.name == USD
        if name in thresholds:
            shapes += _threshold_shapes(thresholds[name], definition, row)
            written.append(_limit_words(thresholds[name], definition, row, "≤" if is_cost else "≥"))
        if name in goals:
            shapes.append(_level(goals[name], row) | {"line": {"dash": "dot", "width": 2, "color": LIMIT}})
            written.append(_limit_words(goals[name], definition, row, "<" if is_cost else ">"))
        above = {"y": _top(definition.scale), "x": 0, "yanchor": "bottom"}
        above["yshift"] = names_height if row == 1 else 0
        written.append(_words(row, definition.label, above, weight=600))
        layout |= _axes_of_row(definition, row, len(definitions), names_axis)
    layout |= {
        "height": _HEAD_HEIGHT + names_height + _ROW_HEIGHT * len(definitions),
        "margin": {"l": 8, "r": 58, "t": _HEAD_HEIGHT + names_height, "b": 8},
        # Streamlit would add it by a second drawing, and Plotly takes no press that a drawing interrupts.
        "clickmode": "event+select",
        "showlegend": False,
        "hovermode": "closest",
        "shapes": [shape | span for shape in shapes] + joined,
        "annotations": written,
        "font": {"color": TEXT},
        **KEEP_ZOOM,
    }
    return go.Figure({"data": traces + figures, "layout": layout}, _validate=False)


def _names_axis(
    iterations: pd.Series[str], fates: Mapping[str, str], span: list[float]
) -> tuple[dict[str, object], int]:
    """The axis of the iterations, and the room for their names above the first row, too: rows are higher than a screen.

    Names stand level with their decisions where their words fit, else at an angle with the decisions' signs.
    """
    width = _NAMES_FIT // max(1, len(iterations))
    shown = iterations.replace({NO_ITERATION: "none", SIMULATED: "simulated"})
    names = [_lines(name, width) for name in shown]
    told = [fate if len(fate) <= width else fate[:1] for fate in (fates.get(name, "") for name in iterations)]
    lengths = [max(map(len, [*name, fate])) for name, fate in zip(names, told, strict=True)]
    is_level = all(one + other <= 2 * width for one, other in pairwise(lengths))
    ticks = ["<br>".join([*name, *filter(None, [fate])]) for name, fate in zip(names, told, strict=True)]
    every = 1 if is_level else -(-len(ticks) // _MOST_NAMES)
    axis = {
        "tickvals": [int(place) for place in iterations.index][::-every][::-1],
        "ticktext": [tick if is_level else tick.replace("<br>", " ") for tick in ticks[::-every][::-1]],
        "range": span,
        "tickangle": 0 if is_level else -45,
        "automargin": True,
        "tickfont": {"color": TEXT, "weight": 600},
    }
    height = 22 + 16 * max((tick.count("<br>") for tick in ticks), default=0) if is_level else _ANGLED_HEIGHT
    return axis, height


def _lines(name: str, width: int) -> list[str]:
    """A name as it stands level: in two lines where it is too long for one and has two words."""
    first, _, last = name.rpartition(" ")
    return [escaped_label(part) for part in ((first, last) if first and len(name) > width else (name,))]


def _axes_of_row(definition: MetricDefinition, row: int, rows: int, names: Mapping[str, object]) -> dict[str, object]:
    """Both axes of a row: the names stand above the first and below the last one."""
    scale, gap = definition.scale, 0.25 / rows
    height = (1.0 - gap * (rows - 1)) / rows
    bottom = 1.0 - row * height - (row - 1) * gap
    ticks, reach = _TICKS.get(scale.name, [scale.low, (scale.low + scale.high) / 2, scale.high]), _REACH * scale.width
    across = {**names, "anchor": _axis(row), "domain": [0.0, 1.0], "showticklabels": row in (1, rows)}
    if row > 1:
        across["matches"] = "x"
    elif rows > 1:
        across["side"] = "top"
    along = {
        "anchor": _axis(row, "x"),
        "domain": [max(0.0, bottom), min(1.0, bottom + height)],
        "range": [scale.low - reach, _top(scale)],
        "tickvals": ticks,
        "ticktext": [f"{tick:,g} %" if scale == PERCENT else f"{tick:,g}" for tick in ticks],
        "zeroline": False,
        "automargin": True,
        "tickfont": {"color": TEXT},
    }
    number = str(row) if row > 1 else ""
    return {f"xaxis{number}": across, f"yaxis{number}": along}


def games_of_dots(scored: pd.DataFrame) -> pd.DataFrame:
    """The game of each dot of a chart: every game, or with more than ``MOST_DOTS`` the lowest of those that lie close.

    Args:
        scored: Games with a score.

    Returns:
        Rows of ``scored`` in their order, or one for each iteration and fiftieth of the values' range, with ``dots``
        (how many games the dot stands for) and ``highest`` (the highest value among them).
    """
    if len(scored) <= MOST_DOTS:
        return scored.assign(dots=1, highest=scored["score"])
    low, high = scored["score"].min(), scored["score"].max()
    bins = ((scored["score"] - low) / ((high - low) or 1.0) * _BINS).round()
    ordered = scored.assign(bin=bins).sort_values(["position", "score"], kind="stable")
    close = ordered.groupby(["position", "bin"], sort=False)
    found = ordered.assign(dots=close["score"].transform("size"), highest=close["score"].transform("max"))
    return found.drop_duplicates(["position", "bin"]).drop(columns="bin")


def _game_dots(scored: pd.DataFrame, definition: MetricDefinition, labels: Mapping[str, str]) -> dict[str, object]:
    drawn = games_of_dots(scored)
    if len(drawn) < len(scored):
        sides = drawn[["dots", "score", "highest"]].itertuples(index=False)
        return _game_trace(drawn, [_close_words(*one, definition=definition) for one in sides])
    is_told = definition.name == ENGAGEMENT.name and "raters" in scored
    raters = scored["raters"].tolist() if is_told else [0] * len(scored)
    texts = [
        f"{labels[str(game)]}: {score_text(score, definition.scale)}"
        + (f", {counted(people, 'rater')}" if people else "")
        for game, score, people in zip(scored["game"].tolist(), scored["score"].tolist(), raters, strict=True)
    ]
    return _game_trace(drawn, texts)


def _close_words(games: int, lowest: float, highest: float, *, definition: MetricDefinition) -> str:
    to = f" to {score_text(highest, definition.scale)}" if highest > lowest else ""
    return f"{counted(games, 'game')}, {score_text(lowest, definition.scale)}{to}"


def legible(figure: go.Figure) -> go.Figure:
    """``figure`` with all its words in the colour of the page's text."""
    # A figure that is kept between runs is drawn again as it is.
    if figure.layout.font.color == TEXT:
        return figure
    figure.update_layout(font_color=TEXT, legend_font_color=TEXT)
    figure.update_xaxes(tickfont_color=TEXT, title_font_color=TEXT)
    figure.update_yaxes(tickfont_color=TEXT, title_font_color=TEXT)
    figure.update_annotations(font_color=TEXT)
    return figure


def _game_trace(games: pd.DataFrame, texts: list[str]) -> dict[str, object]:
    """A dot for each row at its score, larger the more games it stands for.

    Dots of single games of one iteration stand side by side, left of the mean, which they would cover.

    Args:
        games: As :func:`games_of_dots` returns them.
        texts: For each dot, when it is pointed at.
    """
    is_each = bool((games["dots"] == 1).all())
    rank = games.groupby("position").cumcount(ascending=False)
    size = games.groupby("position")["score"].transform("size")
    aside = -0.06 - 0.3 * (rank + 0.5) / size.clip(lower=3) if is_each else 0.0
    return {
        "type": "scatter",
        "x": (games["position"] + aside).tolist(),
        "y": games["score"].tolist(),
        "mode": "markers",
        "name": "game",
        "marker": {
            "size": 7 if is_each else (6 + 2 * games["dots"].clip(upper=32) ** 0.5).tolist(),
            "color": NEUTRAL,
            "opacity": 0.75,
        },
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
    }


def _top(scale: Scale) -> float:
    return scale.high + (_REACH + _FIGURES) * scale.width


def _figures(
    means: Mapping[str, Any],
    games: pd.DataFrame,
    definition: MetricDefinition,
    names: pd.Series[str],
    aside: Collection[str],
    signs: Mapping[str, str],
) -> dict[str, object]:
    """The means as figures above the points, of many iterations only the first and the last; without one, why.

    Those of a metric have the sign of what their step changed beyond luck, else that they are at chance.
    """
    joined = [place for place in names.index if names[place] not in aside]
    told = names.index if len(names) <= _MOST_WITH_FIGURES else [*joined[:1], *joined[-1:]]
    known = {place: mean for place, mean in zip(means["x"], means["y"], strict=True) if not math.isnan(mean)}
    why = {place: _missing(games[games["position"] == place], definition) for place in told if place not in known}
    shown = {
        place: f"{signs.get(names[place], '')}{score_text(mean, definition.scale).split()[0]}"
        for place, mean in known.items()
    }
    return {
        "type": "scatter",
        "x": [int(place) for place in told],
        "y": [definition.scale.high + _REACH * definition.scale.width] * len(told),
        "mode": "text",
        "name": "figure",
        "text": [shown[place] if place in known else _short(why[place][0], len(told)) for place in told],
        "textposition": "top center",
        "textfont": {"size": 12, "color": TEXT},
        "cliponaxis": False,
        "hovertext": [": ".join(filter(None, why.get(place, ()))) for place in told],
        "hoverinfo": ["text" if place in why else "skip" for place in told],
    }


def _short(words: str, places: int) -> str:
    return words if len(words) * places <= _NAMES_FIT else "–"


def _missing(games: pd.DataFrame, definition: MetricDefinition) -> tuple[str, str]:
    """Words in the place of a missing figure, and why it is missing."""
    status = _shared(games, "status")
    if status == "pending":
        return ("not rated" if definition.name == ENGAGEMENT.name else status), ""
    # What would have to be done about it stands after a colon.
    return "no score", escaped_label(_shared(games, "reason").partition(":")[0] or status.replace("_", " "), 60)


def _judges_by_place(scored: pd.DataFrame) -> dict[int, frozenset[Judges]]:
    """The judges of each iteration's games, by position; none where the points do not tell."""
    if "judges" not in scored:
        return {}
    return {int(str(place)): frozenset(judges) for place, judges in scored.groupby("position")["judges"]}


_CHANCE_SIGN = f"{look(AT_CHANCE).symbol} "


def _sign(one: Difference) -> str:
    """The sign of a metric's change beyond luck. Of other figures a higher one need not be better."""
    return {Outcome.BETTER: "▲ ", Outcome.WORSE: "▼ "}.get(one.outcome, "") if one.name in DEFINITIONS else ""


def verdict_words(one: Difference) -> str:
    """The verdict of a difference; of figures beside the metrics without "better", as a higher one need not be."""
    return one.words if one.name in DEFINITIONS else one.words.removeprefix("better ").removeprefix("worse ")


def _step_lines(
    name: str,
    means: Mapping[str, Any],
    iterations: pd.Series[str],
    steps: Steps,
    row: int,
    judges: Mapping[int, frozenset[Judges]],
) -> Iterator[dict[str, object]]:
    """A line from the mean of each reference to that of its iteration; none between judgements of different judges."""
    place_of = {str(name): int(str(place)) for place, name in iterations.items()}
    known = dict(zip(means["x"], means["y"], strict=True))
    for pair, found in steps.items():
        start, end = (place_of.get(one, 0) for one in pair)
        ends = known.get(start, math.nan), known.get(end, math.nan)
        one = judges.get(start, frozenset()) | judges.get(end, frozenset())
        if any(map(math.isnan, ends)) or not have_one_judge(one):
            continue
        is_shown = name in found and found[name].outcome.is_beyond_luck
        yield {
            "type": "path",
            "xref": _axis(row, "x"),
            "yref": _axis(row),
            "path": f"M{start},{ends[0]}L{end},{ends[1]}",
            "line": {"width": 3, "color": ACCENT} if is_shown else {"width": 1.5, "color": NEUTRAL},
            "layer": "between",
        }


def _shared(games: pd.DataFrame, column: str) -> str:
    """The value that all of the games have; empty where they differ, or nothing tells."""
    values = set(games[column]) if column in games else set()
    return str(values.pop()) if len(values) == 1 else ""


def _means(
    scored: pd.DataFrame,
    definition: MetricDefinition,
    names: pd.Series[str],
    changes: Mapping[str, str],
    aside: Collection[str],
    steps: Steps,
) -> dict[str, object]:
    """The means of the iterations in ``names``, by position, NaN where one has no score: open circles for ``aside``."""
    scores, limits = scored.groupby("position")["score"], definition.scale.limits
    sides = {int(str(place)): mean_interval(games.tolist(), limits=limits) for place, games in scores}
    means = scores.mean().reindex(names.index if len(scored) else [])
    above = {place: max(0.0, one.high - means[place]) for place, one in sides.items() if one.high is not None}
    below = {place: max(0.0, means[place] - one.low) for place, one in sides.items() if one.low is not None}
    counts = scores.size()
    told = {name: f"<br>changed: {escaped_label(words, 60)}" for name, words in changes.items() if words}
    for (reference, name), found in steps.items():
        if one := found.get(definition.name):
            told[name] = (
                f"<br>against {escaped_label(reference)}: {change_of(one)}, {verdict_words(one)}{told.get(name, '')}"
            )
    texts = [
        f"{escaped_label(names[place])}: mean {score_text(means[place], definition.scale)} "
        f"of {counted(counts[place], 'game')}, "
        f"95 % interval {interval_words(sides[place])}{told.get(names[place], '')}"
        if place in sides
        else ""
        for place in means.index
    ]
    return {
        "type": "scatter",
        "x": [int(place) for place in means.index],
        "y": means.tolist(),
        "mode": "markers",
        "name": "mean",
        "marker": {
            "size": 10,
            "symbol": [
                "diamond" if names[place] in LOOSE else "circle-open" if names[place] in aside else "circle"
                for place in means.index
            ],
            "color": [NEUTRAL if names[place] in LOOSE else ACCENT for place in means.index],
            "line": {"width": [0 if names[place] in LOOSE else 2 for place in means.index], "color": ACCENT},
        },
        "hovertext": texts,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [above.get(place, 0.0) for place in means.index],
            "arrayminus": [below.get(place, 0.0) for place in means.index],
            "color": NEUTRAL,
            "thickness": 1,
            "width": 4,
        },
    }


def _threshold_shapes(threshold: float, definition: MetricDefinition, row: int) -> list[dict[str, object]]:
    """The side that fails, shaded, and the dashed line."""
    low, high = definition.scale.limits
    reach = _REACH * definition.scale.width
    fails_above = definition.scale.name == USD
    across = _level(threshold, row)
    side = {"y0": threshold if fails_above else low - reach, "y1": high + reach if fails_above else threshold}
    line = {"dash": "dash", "width": 2, "color": LIMIT}
    return [
        {**across, "type": "rect", **side, "fillcolor": FAILING_SIDE, "line": {"width": 0}, "layer": "below"},
        {**across, "line": line},
    ]


def _level(value: float, row: int) -> dict[str, object]:
    """A line at a value, across the row."""
    axes = {"xref": _axis(row, "x"), "yref": _axis(row)}
    return {"type": "line", **axes, "y0": value, "y1": value, "layer": "between"}


def _axis(row: int, letter: str = "y") -> str:
    return f"{letter}{row}" if row > 1 else letter


def _words(row: int, text: str, place: Mapping[str, object], weight: int = 400) -> dict[str, object]:
    """Words beside a row of the figure; ``x`` is a share of its width, ``y`` a value of its axis."""
    font = {"size": 12, "weight": weight, "color": TEXT}
    return {
        "text": text,
        "xref": "paper",
        "yref": _axis(row),
        "xanchor": "left",
        "showarrow": False,
        "font": font,
        **place,
    }


def _limit_words(limit: float, definition: MetricDefinition, row: int, sign: str) -> dict[str, object]:
    """A value to reach, in the margin, where no game can lie under it."""
    unit = {USD: " USD", PERCENT.name: " %"}.get(definition.scale.name, "")
    return _words(row, f"{sign} {limit:g}{unit}", {"y": limit, "x": 1.01, "yanchor": "middle"})


_TICKS = {PERCENT.name: [0, 50, 100], LIKERT.name: [1, 3, 5], "nine": [0, 3, 6, 9]}
"""Few are legible beside a row."""


def trend_alt(
    points: pd.DataFrame, definitions: Mapping[str, MetricDefinition], thresholds: Mapping[str, float]
) -> str:
    """The figure in words, for people who do not see it. Iterations are numbered: names are untrusted text."""
    rows = (_row_alt(points[points["metric"] == name], one, thresholds.get(name)) for name, one in definitions.items())
    return " ".join(rows)


def _row_alt(points: pd.DataFrame, definition: MetricDefinition, threshold: float | None) -> str:
    parts = []
    for number, (_, games) in enumerate(points.groupby("position"), start=1):
        scores = games["score"].dropna()
        mean = (
            f"mean {score_text(scores.mean(), definition.scale)} of {counted(len(scores), 'game')}"
            if len(scores)
            else "no score"
        )
        parts.append(f"iteration {number}: {mean}")
    limit = f", threshold {threshold_text(threshold, definition.scale)}" if threshold is not None else ""
    return f"{definition.label} over iterations{limit}. {'; '.join(parts)}."
