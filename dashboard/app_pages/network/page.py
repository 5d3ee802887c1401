"""The Insights page: a game's graph, activity and memory, checks by a judge, and the cost of models."""

import streamlit as st

from dashboard.app_pages.network import checks, data
from dashboard.app_pages.network import sections as parts
from dashboard.shared import resources, state
from dashboard.shared.first_run import first_steps
from dashboard.shared.notices import empty_state, plain
from evaluation.errors import InputError

GRAPH, ACTIVITY, CHECKS, COST = "Who addresses whom", "Activity and memory", "Checks and findings", "Cost"
BESIDE = "Beside each other"


def show() -> None:
    games = resources.read(data.games)
    if not games:
        empty_state(
            "No games yet",
            "With games, this page shows who addresses whom, how much everybody says, and what models have cost.",
        )
        first_steps("network")
        return

    view = state.choose_view([GRAPH, ACTIVITY, BESIDE, CHECKS, COST], key="network_view")
    if view == COST:
        parts.cost()
        return
    if view == BESIDE:
        parts.beside(games)
        return
    if view == CHECKS:
        checks.show(parts.pick_game(games))
        return
    try:
        picked = parts.pick_game(games)
        whole = resources.share(data.open_game, picked)
        only = parts.pick_messages(picked, whole.channels, whole.rounds)
        opened = resources.share(data.open_game, picked, only)
    except InputError as error:
        st.error("The figures of this game cannot be computed.")
        plain(str(error))
        return
    if view == ACTIVITY:
        parts.activity(opened)
    else:
        parts.graph(opened.graph)
    parts.downloads(opened)


show()
