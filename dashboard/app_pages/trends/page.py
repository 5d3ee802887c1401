"""The Trends page: metrics, persona dimensions and agents over games and iterations."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard.app_pages.trends import data
from dashboard.app_pages.trends import views as parts
from dashboard.app_pages.trends.behaviour import behaviour, cost
from dashboard.shared import queries, resources, state
from dashboard.shared.beside_chance.parts import beside_chance_toggle, chance_notes
from dashboard.shared.charts.metric_charts import MOST_DOTS
from dashboard.shared.first_run import first_steps
from dashboard.shared.marks.pictures import open_clicked_mark
from dashboard.shared.notices import empty_state
from dashboard.shared.version_notes import versions_banner
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import MetricDefinition

_CLOSE = "Games that lie close together share a dot, which opens the lowest of them."
CHARTS, HEAT, TABLE, PERSONAS = "Charts", "Heat map", "Table", "Personas"


def show() -> None:
    points = resources.share(queries.trend_points)
    if points.empty:
        empty_state(
            "No games yet",
            "A trend needs games in two iterations or more: the ones before a change of the prompt, and the ones "
            "after it.",
        )
        first_steps("trends")
        return
    open_clicked_mark(resources.store())
    versions_banner(resources.store())
    found = resources.read(data.steps)
    part = state.choose_view([state.METRIC_TRENDS, state.COST_AND_BEHAVIOUR], key=state.TRENDS_VIEW)
    is_loose = points["iteration"].isin(queries.LOOSE)
    view, with_loose, beside_chance = choices(has_loose_games=bool(is_loose.any()))
    first, last = parts.pick_range(found)
    if view == PERSONAS:
        parts.persona_dimensions(first, last)
        parts.change_notes(found)
        parts.drift()
        return
    is_shown = (points["position"].between(first, last) & ~is_loose) | (is_loose & with_loose)
    shown = points if is_shown.all() else points[is_shown]
    if shown.empty:
        head = "No game of these iterations is stored." if found else "No game belongs to an iteration yet."
        st.info(f"{head} Upload games into one, or show the games of no iteration.")
    elif part == state.COST_AND_BEHAVIOUR:
        parts.beside_charts(first, last, with_loose=with_loose)
        parts.change_notes(found)
        behaviour()
        cost()
    else:
        metrics(view, shown, found, key=(with_loose, first, last), beside_chance=beside_chance)


def choices(*, has_loose_games: bool) -> tuple[str, bool, bool]:
    """Draw the controls: kind of chart, games without iteration, and chance beside the scores."""
    with st.container(horizontal=True, vertical_alignment="center"):
        view = state.choose_view([CHARTS, HEAT, TABLE, PERSONAS], key="as", label="Show as")
        with_loose = has_loose_games and st.toggle(
            "Show games of no iteration",
            key="loose",
            bind="query-params",
            help="They stand to the right of all iterations.",
        )
        beside_chance = view in (CHARTS, TABLE) and beside_chance_toggle()
    return view, with_loose, beside_chance


def metrics(
    view: str, shown: pd.DataFrame, found: Sequence[data.Step], *, key: tuple[bool, int, int], beside_chance: bool
) -> None:
    thresholds = resources.read(queries.thresholds)
    if view in (CHARTS, HEAT):
        parts.heat_map(shown, thresholds, key)
    definitions = DEFINITIONS if view == HEAT else picked()
    if beside_chance:
        chance_notes(shown[shown["metric"].isin(list(definitions))], are_drawn=view == CHARTS)
    if view == HEAT:
        parts.heat_table(shown, thresholds, key)
    elif view == TABLE:
        parts.metric_tables(shown, definitions, key, beside_chance=beside_chance)
    else:
        st.caption(
            "Dots are games, diamonds means with their 95 % intervals over games, the dashed line is the threshold, "
            "and what lies on its shaded side fails. A dot opens its game, a diamond the games of its iteration."
            + (f" {_CLOSE}" if shown.groupby("metric")["score"].count().max() > MOST_DOTS else "")
        )
        parts.metric_charts(shown, definitions, thresholds, key, beside_chance=beside_chance)
    parts.change_notes(found)
    parts.export(shown, definitions)


def picked() -> Mapping[str, MetricDefinition]:
    """The metrics that were chosen; all of them when none was."""
    chosen = st.pills(
        "Metrics",
        list(DEFINITIONS),
        selection_mode="multi",
        format_func=lambda name: DEFINITIONS[name].label,
        key="metrics",
        bind="query-params",
        wrap=True,
    )
    return {name: DEFINITIONS[name] for name in chosen or DEFINITIONS}


show()
