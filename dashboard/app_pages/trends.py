import pandas as pd
import streamlit as st

from dashboard import charts, queries, resources
from dashboard.components.messages import empty_state
from dashboard.components.sample_button import first_steps
from dashboard.components.version_notes import versions_banner
from dashboard.formatting import counted, score_text, spreadsheet_safe, threshold_text
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import MetricDefinition
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words

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
picked = st.pills(
    "Metrics",
    list(DEFINITIONS),
    selection_mode="multi",
    format_func=lambda name: DEFINITIONS[name].label,
    key="metrics",
    bind="query-params",
    wrap=True,
)
has_loose_games = (points["iteration"] == queries.NO_ITERATION).any()
with st.container(horizontal=True, vertical_alignment="center"):
    view = st.segmented_control(
        "Show as",
        ["Charts", "Table"],
        default="Charts",
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
shown = points if with_loose else points[points["iteration"] != queries.NO_ITERATION]
if shown.empty:
    st.info("No game belongs to an iteration yet. Upload games into one, or show the games of no iteration.")
    st.stop()

st.caption("Dots are games, diamonds means with their 95 % intervals over games, the dashed line is the threshold.")


def summary(games: pd.DataFrame, definition: MetricDefinition) -> str:
    """How much stands behind a chart, and what was left out of it."""
    scored = games["score"].notna().sum()
    parts = [f"{counted(int(scored), 'game')} in {counted(games['position'].nunique(), 'iteration')}"]
    left_out = games[games["score"].isna()]["status"].value_counts()
    parts += [f"{count} {status.replace('_', ' ')}, not drawn" for status, count in left_out.items()]
    return " · ".join([*parts, threshold_text(thresholds[definition.name], definition.scale)])


def mean_table(games: pd.DataFrame, definition: MetricDefinition) -> pd.DataFrame:
    """The chart's numbers: one row per iteration."""
    rows = []
    for _, group in games.groupby("position"):
        scores = group["score"].dropna()
        rows.append(
            {
                "Iteration": spreadsheet_safe(group["iteration"].iloc[0]),
                "Mean": score_text(scores.mean() if len(scores) else None, definition.scale),
                "95 % interval": interval_words(
                    mean_interval(scores, limits=(definition.scale.low, definition.scale.high))
                ),
                "Lowest": score_text(scores.min() if len(scores) else None, definition.scale),
                "Highest": score_text(scores.max() if len(scores) else None, definition.scale),
                "Games": len(scores),
                "Without a score": len(group) - len(scores),
            }
        )
    return pd.DataFrame(rows)


grid = st.grid(2, min_column_width=380) if view == "Charts" else st.container()
for name in picked or DEFINITIONS:
    definition = DEFINITIONS[name]
    games = shown[shown["metric"] == name]
    with grid.cell() if view == "Charts" else grid.container(), st.container(border=True):
        st.subheader(definition.label, anchor=False)
        st.caption(summary(games, definition))
        if view == "Charts":
            # The charts of a thousand games take half a second to make, and are the same until the data changes.
            drawn = (name, bool(with_loose))
            st.plotly_chart(
                resources.once(charts.trend_figure, drawn, games, definition, thresholds[name]),
                key=f"trend_{name}",
                config={"displayModeBar": False},
                alt=resources.once(charts.trend_alt, drawn, games, definition, thresholds[name]),
            )
        else:
            st.dataframe(mean_table(games, definition), hide_index=True, alt=f"{definition.label} by iteration")
