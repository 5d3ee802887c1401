"""Parts of the Trends page: the chart with a row for each metric, its numbers, changes, behaviour, cost, and agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.trends import behaviour_data, data
from dashboard.shared import queries, resources
from dashboard.shared.charts import metric_charts as charts
from dashboard.shared.clicked_marks import remember_point
from dashboard.shared.drawing import draw_chart
from dashboard.shared.formatting import look, threshold_text
from dashboard.shared.notices import plain
from dashboard.shared.status_table import csv_download, status_table
from evaluation.comparison.iterations import IterationComparison
from evaluation.iterations.board import IterationSummary
from evaluation.iterations.checklist import CACHE_HIT_GOAL, COST_GOAL_USD
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.rubric.verdict import COST_LIMIT_USD
from evaluation.score import Coverage, MetricDefinition
from evaluation.store.llm_calls import spending_by_model
from evaluation.text.display import counted

ZOOMABLE = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    # Drawn by the browser that shows the figure; nothing is asked of another server.
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "trend"},
}


_FEWEST_FOR_RANGE = 6
_MOST_STEPS = 5


def pick_range(last: int) -> tuple[int, int]:
    """The iterations to show, from and to; the choice stands in the URL. At first, and where there are few, all."""
    if last < _FEWEST_FOR_RANGE:
        return 1, max(1, last)
    return st.slider(
        "Iterations, from and to",
        1,
        last,
        (1, last),
        key="range",
        bind="query-params",
        help="To zoom a chart, use the tools at its upper right.",
    )


def step_table(found: Sequence[IterationSummary], compared: Mapping[tuple[str, str], IterationComparison]) -> None:
    """Changes beyond luck and the decision of each iteration, the latest first."""
    rows = data.step_rows([one for one in found if one.games], compared)
    status_table(rows[:_MOST_STEPS], "What each iteration changed against its reference")
    if rest := rows[_MOST_STEPS:]:
        with st.expander(f"{counted(len(rest), 'earlier iteration')}"):
            status_table(rest, "What each earlier iteration changed against its reference")


def metric_chart(
    shown: pd.DataFrame,
    definitions: Mapping[str, MetricDefinition],
    thresholds: Mapping[str, float],
    key: tuple[object, ...],
    steps: charts.Steps,
    goals: Mapping[str, float] = MappingProxyType({}),
    at_chance: Sequence[tuple[str, str]] = (),
) -> None:
    """One chart with a row for each metric; every mark opens the games behind it.

    Args:
        shown: The games, as ``queries.trend_points`` gives them.
        definitions: The metrics to draw.
        thresholds: Today's; a metric that is missing has none.
        key: What was chosen, to tell this chart from others of the same data.
        steps: How each iteration differs from its reference.
        goals: Values to reach that fail no game.
        at_chance: Metrics with the names of the iterations whose means are no better than scrambled copies.
    """
    # Iterations without a game take no room.
    shown = shown.assign(position=shown["position"].rank(method="dense").astype(int))
    known = resources.read(resources.store().iterations.list)
    reverted, drawn = {one.name for one in known if one.is_reverted}, set(shown["iteration"])
    is_close = shown.groupby("metric")["score"].count().max() > charts.MOST_DOTS
    legend = [
        "● mean of an iteration, 95 % interval",
        *["○ reverted"] * (not drawn.isdisjoint(reverted)),
        *["◆ of no iteration"] * (not drawn.isdisjoint(queries.LOOSE)),
        f"· a game{', or games that lie close: it opens the lowest' * bool(is_close)}",
        *["≈ at chance"] * bool(at_chance),
        *["━ step beyond luck, ─ could be luck"] * bool(steps),
        *["┄ threshold, shaded: fails"] * bool(thresholds),
        *["┈ goal"] * bool(goals),
        "a mark opens its games",
    ]
    # Each entry stays in one line.
    words = "\u2003".join(entry.replace(" ", "\u00a0") for entry in legend)
    st.caption(f":small[{words}]")
    limits = {name: limit for name, limit in thresholds.items() if name in definitions}
    changes = {one.name: one.change for one in known}
    fates = {one.name: look(one.recorded.fate).label for one in known if one.recorded}
    # No iteration builds on them.
    aside = {*queries.LOOSE, *reverted}
    widget = f"trend_{key[0]}"
    targets = resources.once(data.chart_targets, key, shown, list(definitions))
    draw_chart(
        resources.once(
            charts.trend_figure, key, shown, definitions, limits, changes, aside, goals, fates, steps, at_chance
        ),
        key=widget,
        config=ZOOMABLE,
        alt=resources.once(charts.trend_alt, key, shown, definitions, limits),
        on_select=access_checks.event(
            "trend_open", remember_point(widget, targets, data.mark_kinds(list(definitions)))
        ),
        selection_mode="points",
    )


def numbers(
    shown: pd.DataFrame,
    definitions: Mapping[str, MetricDefinition],
    thresholds: Mapping[str, float],
    key: tuple[object, ...],
) -> None:
    """The chart's numbers as a table, what each metric rests on, and the games as CSV."""
    with st.expander("Show the numbers", icon=":material/table:"):
        for name, definition in definitions.items():
            games = shown[shown["metric"] == name]
            st.caption(f"**{definition.label}**: {_summary(games, definition, thresholds.get(name))}")
        status_table(resources.once(data.mean_rows, key, shown, definitions), "Every metric by iteration")
        csv_download("Download the games (CSV)", lambda: data.export_frame(shown), "trends.csv")


def _summary(games: pd.DataFrame, definition: MetricDefinition, threshold: float | None) -> str:
    scored = games["score"].notna().sum()
    within = games[games["score"].notna()]["position"].nunique()
    parts = [f"{counted(int(scored), 'game')} in {counted(within, 'iteration')}"]
    left_out = games[games["score"].isna()]["status"].value_counts()
    parts += [f"{count} {str(status).replace('_', ' ')}, not drawn" for status, count in left_out.items()]
    if definition.name == ENGAGEMENT.name:
        parts.append(counted(int(games["raters"].sum()), "rating"))
    if definition.coverage is not None and "considered" in games and (considered := int(games["considered"].sum())):
        parts.append(Coverage(definition.coverage, int(games["settled"].sum()), considered).words)
    return " · ".join(parts + ([threshold_text(threshold, definition.scale)] if threshold is not None else []))


def beside_points(first: int, last: int, *, with_loose: bool) -> pd.DataFrame:
    """Cost, cache hits and role consistency by side, then behaviour, game by game."""
    talk = resources.share(behaviour_data.behaviour_points, tuple(resources.read(queries.iteration_sizes)))
    points = pd.concat([resources.share(data.beside_points), talk], ignore_index=True)
    return _within(points, first, last, with_loose)


def beside_charts(points: pd.DataFrame, key: tuple[object, ...], steps: charts.Steps) -> None:
    """Cost, cache hits, behaviour, and role consistency by side as a chart."""
    definitions = data.beside_definitions(points)
    unknown = [label for name, label in _BESIDE_LABELS.items() if name not in definitions]
    if unknown:
        st.caption(f"Not recorded in any of these games: {', '.join(unknown)}.")
    if definitions:
        drawn = {name: one for name, one in definitions.items() if name != "answered"}
        goals = {"cost_usd": COST_GOAL_USD, "cache_hit_rate": 100 * CACHE_HIT_GOAL}
        metric_chart(points, drawn, {"cost_usd": COST_LIMIT_USD}, key, steps, goals)


def figure_steps(points: pd.DataFrame, key: tuple[object, ...], pairs: Sequence[tuple[str, str]]) -> charts.Steps:
    """Differences of every figure of the iterations from that of their references."""
    return {pair: resources.once(data.figure_differences, (*key, pair), points, pair) for pair in pairs}


def beside_numbers(points: pd.DataFrame) -> None:
    """The chart's numbers."""
    means = data.mean_matrix(points, data.beside_definitions(points))
    status_table(means, "Cost and behaviour by iteration")
    st.caption("Costs come from the uploaded files. A missing cost is unknown, not 0.")


_BESIDE_LABELS = {"cost_usd": "cost", "cache_hit_rate": "cache hit rate", "role_mafia": "roles"}


def _within(frame: pd.DataFrame, first: int, last: int, with_loose: bool) -> pd.DataFrame:
    is_loose = frame["iteration"].isin(queries.LOOSE)
    return frame[(frame["position"].between(first, last) & ~is_loose) | (is_loose & with_loose)]


def persona_dimensions(first: int, last: int, pairs: Sequence[tuple[str, str]]) -> None:
    """The persona dimensions of the games of these iterations, game by game."""
    points = resources.read(data.dimension_points)
    shown = points.frame[points.frame["position"].between(first, last)]
    if shown.empty:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("No agent that speaks in these iterations was evaluated yet.", width="content")
            st.page_link("app_pages/agents/page.py", label="Evaluate agents")
        return
    if points.apart:
        plain(points.apart)
    st.caption(
        "Each game is the mean over the agents that speak in it, by each one's latest run, from 0 to 9. What is judged "
        "over all that an agent said belongs to no game: Agents, Profiles has it, and one agent from run to run."
    )
    known = {name: one for name, one in data.PERSONA_DEFINITIONS.items() if (shown["metric"] == name).any()}
    key = ("personas", first, last)
    metric_chart(shown, known, {}, key, figure_steps(shown, key, pairs))


def model_calls() -> None:
    """The calls to models by model and purpose."""
    found = resources.read(spending_by_model)
    if found.empty:
        st.markdown("No model was asked yet.")
        return
    with st.container(horizontal=True):
        for label, figure in behaviour_data.totals(found).items():
            st.metric(label, figure, border=True, width="content")
    st.caption(
        "Every call for judging, simulations and checks of messages; those of a script cost nothing. Provider's "
        "cache: the share of input tokens that the provider had cached, which cost less."
    )
    st.subheader("By model and purpose", anchor=False)
    unpriced = int(found["unpriced"].sum())
    st.caption(
        "Tokens: input / output. Failed: calls without a usable answer. No price: answered calls of models "
        "without a known price, which are not in the sum. Slow: 95 of 100 calls took less. "
        + (f"The price of {counted(unpriced, 'call')} is not known and not in the sum." if unpriced else "")
    )
    status_table(behaviour_data.model_rows(found), "Calls by model and purpose")
