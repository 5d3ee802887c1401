"""Parts of the Trends page: the chart with a row for each metric, its numbers, changes, behaviour, cost, and agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from evaluation.iterations.checklist import CACHE_HIT_GOAL, COST_GOAL_USD
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.rubric.verdict import COST_LIMIT_USD
from evaluation.score import Coverage, MetricDefinition
from evaluation.store import Store
from evaluation.text.display import counted

ZOOMABLE = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    # Drawn by the browser that shows the figure; nothing is asked of another server.
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "trend"},
}


_FEWEST_FOR_RANGE = 6


def pick_range(found: Sequence[data.Step]) -> tuple[int, int]:
    """The iterations to show, from and to; the choice stands in the URL. At first, and where there are few, all."""
    last = len(found)
    if last < _FEWEST_FOR_RANGE:
        return 1, max(1, last)
    return st.slider(
        "Iterations, from and to",
        1,
        last,
        (1, last),
        key="range",
        bind="query-params",
        help="Charts can be zoomed besides: their tools appear at the upper right.",
    )


def change_notes(found: Sequence[data.Step]) -> None:
    """The change of each iteration, and what became of it, the latest first."""
    st.subheader("What each iteration changed", anchor=False)
    rows = [
        {
            "Iteration": one.name,
            "Decision": one.decision,
            "Change": one.change,
            "To raise": f"{one.target}, against {one.reference}" if one.target and one.reference else "",
        }
        for one in reversed(found)
    ]
    status_table(rows, "What each iteration changed, and what was decided")


def metric_chart(
    shown: pd.DataFrame,
    definitions: Mapping[str, MetricDefinition],
    thresholds: Mapping[str, float],
    key: tuple[object, ...],
    goals: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """One chart with a row for each metric; every mark opens the games behind it.

    Args:
        shown: The games, as ``queries.trend_points`` gives them.
        definitions: The metrics to draw.
        thresholds: Today's; a metric that is missing has none.
        key: What was chosen, to tell this chart from others of the same data.
        goals: Values to reach that fail no game.
    """
    close = f" {_CLOSE}" if shown.groupby("metric")["score"].count().max() > charts.MOST_DOTS else ""
    st.caption(
        "● a game · ◆ the mean in figures and with its 95 % interval, ◇ if reverted · ┄ threshold, shaded: fails"
        f"{' · ┈ goal' if goals else ''}. A dot opens its game, a diamond all games of its iteration.{close}"
    )
    limits = {name: limit for name, limit in thresholds.items() if name in definitions}
    widget = f"trend_{key[0]}"
    targets = resources.once(data.chart_targets, key, shown, list(definitions))
    draw_chart(
        resources.once(
            charts.trend_figure,
            key,
            shown,
            definitions,
            limits,
            resources.read(_changes),
            resources.read(_aside),
            goals,
            resources.read(_fates),
        ),
        key=widget,
        config=ZOOMABLE,
        alt=resources.once(charts.trend_alt, key, shown, definitions, limits),
        on_select=access_checks.event(
            "trend_open", remember_point(widget, targets, data.mark_kinds(list(definitions)))
        ),
        selection_mode="points",
    )


_CLOSE = "Games that lie close together share a dot, which opens the lowest of them."


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


def _changes(store: Store) -> dict[str, str]:
    return {one.name: one.change for one in store.iterations.list()}


def _fates(store: Store) -> dict[str, str]:
    return {one.name: look(one.recorded.fate).label for one in store.iterations.list() if one.recorded}


def _aside(store: Store) -> set[str]:
    """The names of what no iteration builds on: those that were reverted, and games of no iteration."""
    return {*queries.LOOSE, *queries.reverted(store)}


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


def cost_of_a_game(references: Mapping[str, str], first: int, last: int, *, with_loose: bool) -> tuple[str, str]:
    """The cost of a game of the latest iteration beside its reference's, in words."""
    return data.cost_sentence(_within(resources.share(data.beside_points), first, last, with_loose), references)


def beside_charts(first: int, last: int, *, with_loose: bool) -> None:
    """Cost, cache hits and role consistency by side as a chart."""
    points = _within(resources.share(data.beside_points), first, last, with_loose)
    definitions = data.beside_definitions(points)
    unknown = [label for name, label in _BESIDE_LABELS.items() if name not in definitions]
    if unknown:
        st.caption(f"Not recorded in any of these games: {', '.join(unknown)}.")
    if definitions:
        goals = {"cost_usd": COST_GOAL_USD, "cache_hit_rate": 100 * CACHE_HIT_GOAL}
        key = ("beside", first, last, with_loose)
        metric_chart(points, definitions, {"cost_usd": COST_LIMIT_USD}, key, goals)


_BESIDE_LABELS = {"cost_usd": "cost", "cache_hit_rate": "cache hit rate", "role_mafia": "roles"}


def _within(frame: pd.DataFrame, first: int, last: int, with_loose: bool) -> pd.DataFrame:
    is_loose = frame["iteration"].isin(queries.LOOSE)
    return frame[(frame["position"].between(first, last) & ~is_loose) | (is_loose & with_loose)]


def dimension_points(first: int, last: int) -> data.DimensionPoints:
    """The persona dimensions of the games of these iterations, as ``data.dimension_points`` gives them."""
    points = resources.read(data.dimension_points)
    return replace(points, frame=points.frame[points.frame["position"].between(first, last)])


def persona_dimensions(points: data.DimensionPoints, first: int, last: int) -> None:
    """The persona dimensions over iterations, game by game."""
    shown = points.frame
    if points.apart:
        plain(points.apart)
    st.caption(
        "Each game is the mean over the agents that speak in it, by each one's latest run, from 0 to 9. What is judged "
        "over all that an agent said belongs to no game: Agents, Profiles has it, and one agent from run to run."
    )
    known = {name: one for name, one in data.PERSONA_DEFINITIONS.items() if (shown["metric"] == name).any()}
    metric_chart(shown, known, {}, ("personas", first, last))


def behaviour_of_iterations() -> pd.DataFrame:
    """Behaviour of the players, by iteration with games."""
    sizes = resources.read(queries.iteration_sizes)
    return resources.share(behaviour_data.behaviour_frame, tuple(name for name in sizes if sizes[name]))


def behaviour() -> None:
    """Show how much, how evenly and to whom players talk in each iteration."""
    found = behaviour_of_iterations()
    if found.empty:
        return
    st.subheader("Who talks, and to whom", anchor=False)
    status_table(behaviour_data.behaviour_words(found), "Behaviour of players by iteration")
    st.caption(
        "Means over the games. Most talkative: the words of that player, as a multiple of an even share. Addresses: to "
        "how many of the others a player speaks."
    )


def games_cost() -> None:
    """The cost of the games by iteration."""
    found = resources.read(behaviour_data.spending)
    if not found.games.empty:
        st.subheader("What the games cost", anchor=False)
        st.caption("As the uploaded files say. A cost that is not in them is unknown, not 0.")
        status_table(found.games, "Cost of the games by iteration")


def model_calls() -> bool:
    """The calls to models by model and purpose, folded; nothing before the first. Whether there is one."""
    found = resources.read(behaviour_data.spending)
    is_asked = not found.models.empty
    if is_asked:
        with st.expander("Calls to models", icon=":material/receipt_long:"):
            _calls(found)
    return is_asked


def _calls(found: behaviour_data.Spending) -> None:
    with st.container(horizontal=True):
        for label, figure in behaviour_data.totals(found).items():
            st.metric(label, figure, border=True, width="content")
    st.caption(
        "Every call for judging, simulations and checks of messages; those of a script cost nothing. Provider's "
        "cache: the share of input tokens that the provider had cached, which cost less."
    )
    st.subheader("By model and purpose", anchor=False)
    unpriced = int(found.models["unpriced"].sum())
    st.caption(
        "Tokens: input / output. Failed: calls without a usable answer. No price: answered calls of models "
        "without a known price, which are not in the sum. Slow: 95 of 100 calls took less. "
        + (f"The price of {counted(unpriced, 'call')} is not known and not in the sum." if unpriced else "")
    )
    status_table(behaviour_data.model_rows(found), "Calls by model and purpose")
