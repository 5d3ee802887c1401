"""The Team view of the Review page: raters by games, and what a lead does about them."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.review.style_check import style_table
from dashboard.app_pages.review.team._assigning import assigning
from dashboard.app_pages.review.team._cell import DONE, chosen_cell
from dashboard.app_pages.review.team._discards import discards
from dashboard.app_pages.review.team._grid import choose_cell, grid_table, rater_table
from dashboard.shared import queries, resources
from dashboard.shared.notices import empty_state, plain
from evaluation.store import Store
from evaluation.workflows.rating_teams import rating_grid

_ALL_GAMES = "All games"


def team(store: Store, lead: str) -> None:
    """Raters by games; a cell that is chosen opens the rating, with what can be done about it."""
    if (said := st.session_state.pop(DONE, None)) is not None:
        words, is_fine = said
        if is_fine:
            st.success("Stored.", icon=":material/check:")
        else:
            st.error("Nothing was stored.", icon=":material/error:")
        plain(words)
    names = list(resources.read(queries.iteration_sizes))
    chosen = st.selectbox(
        "Games of",
        [_ALL_GAMES, *reversed(names)],
        key="team_of",
        bind="query-params",
        filter_mode="contains",
        width=420,
    )
    iteration = None if chosen == _ALL_GAMES else chosen
    grid = resources.read(rating_grid, iteration)
    if not grid.games:
        empty_state("No games here", "Upload games first, or choose another iteration.")
        return
    if grid.raters:
        rater_table(grid)
        grid_table(grid)
        cell = choose_cell(grid)
        if cell is not None:
            chosen_cell(store, lead, *cell)
    else:
        st.info("Nobody has rated yet, and nothing is assigned. Assign the games below.")
    assigning(store, lead, grid, iteration)
    with st.expander("Put aside, and who speaks"):
        discards(store, lead)
        style_table(store)
