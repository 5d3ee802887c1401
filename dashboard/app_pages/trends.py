import streamlit as st

from dashboard import queries, resources, trends
from dashboard.components import trend_parts as parts
from dashboard.components.messages import empty_state
from dashboard.components.sample_button import first_steps
from dashboard.components.version_notes import versions_banner
from evaluation.rubric.definitions import DEFINITIONS

CHARTS, HEAT, TABLE, PERSONAS = "Charts", "Heat map", "Table", "Personas"

points = resources.read(queries.trend_points)
if points.empty:
    empty_state(
        "No games yet",
        "A trend needs games in two iterations or more: the ones before a change of the prompt, and the ones after it.",
    )
    first_steps("trends")
    st.stop()

versions_banner(resources.store())
thresholds = resources.read(queries.thresholds)
found = resources.read(trends.steps)
has_loose_games = (points["iteration"] == queries.NO_ITERATION).any()
with st.container(horizontal=True, vertical_alignment="center"):
    view = st.segmented_control(
        "Show as",
        [CHARTS, HEAT, TABLE, PERSONAS],
        default=CHARTS,
        required=True,
        key="as",
        bind="query-params",
        label_visibility="collapsed",
    )
    with_loose = has_loose_games and st.toggle(
        "Show games of no iteration",
        key="loose",
        bind="query-params",
        help="They stand to the right of all iterations.",
    )
first, last = parts.pick_range(found)
if view == PERSONAS:
    parts.persona_dimensions(first, last)
    parts.annotations(found)
    parts.drift()
    st.stop()

is_loose = points["iteration"] == queries.NO_ITERATION
shown = points[(points["position"].between(first, last) & ~is_loose) | (is_loose & bool(with_loose))]
if shown.empty:
    head = "No game of these iterations is stored." if found else "No game belongs to an iteration yet."
    st.info(f"{head} Upload games into one, or show the games of no iteration.")
    st.stop()

key = (bool(with_loose), first, last)
picked = list(DEFINITIONS)
if view != HEAT:
    chosen = st.pills(
        "Metrics",
        list(DEFINITIONS),
        selection_mode="multi",
        format_func=lambda name: DEFINITIONS[name].label,
        key="metrics",
        bind="query-params",
        wrap=True,
    )
    picked = chosen or picked
definitions = {name: DEFINITIONS[name] for name in picked}
if view == HEAT:
    parts.heat_map(shown, thresholds, key)
elif view == TABLE:
    parts.metric_tables(shown, definitions, key)
else:
    st.caption("Dots are games, diamonds means with their 95 % intervals over games, the dashed line is the threshold.")
    parts.metric_charts(shown, definitions, thresholds, key)
parts.annotations(found)
parts.export(shown, definitions, thresholds)
