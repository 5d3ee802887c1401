import streamlit as st

from dashboard import network, resources
from dashboard.components import network_parts as parts
from dashboard.components.messages import empty_state
from dashboard.components.sample_button import first_steps

GRAPH, ACTIVITY, COST = "Who addresses whom", "Activity and memory", "Cost"


def show() -> None:
    games = resources.read(network.games)
    if not games:
        empty_state(
            "No games yet",
            "With games, this page shows who addresses whom, how much everybody says, and what models have cost.",
        )
        first_steps("network")
        return

    view = st.segmented_control(
        "View",
        [GRAPH, ACTIVITY, COST],
        default=GRAPH,
        required=True,
        key="network_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == COST:
        parts.cost()
        return
    opened = resources.share(network.open_network, parts.pick_game(games))
    if view == ACTIVITY:
        parts.activity(opened)
    else:
        parts.graph(opened)
    parts.downloads(opened)


show()
