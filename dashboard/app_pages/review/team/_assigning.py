"""Assign games to raters with a planned overlap."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.app_pages.review.team._cell import act
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.errors import DramaturgError
from evaluation.rating_desk.assignments import AssignmentPlan
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.rating_teams import RatingGrid, assign_games

_MOST_PER_GAME = 20
_NAMES = "team_names"


def assigning(store: Store, lead: str, grid: RatingGrid, iteration: str | None) -> None:
    """A form that plans assignments of the games shown, says what they lead to, and stores them."""
    st.subheader("Assign games", anchor=False)
    st.caption(
        "Every game gets the same number of raters; people who have rated it already count. Each rater gets as many "
        "games as the others, and all pairs of raters meet. A rater's assigned games come first in their queue."
    )
    if _NAMES not in st.session_state:
        st.session_state[_NAMES] = "\n".join(one.rater for one in grid.raters)
    typed = st.text_area(
        "Raters, one name per line",
        key=_NAMES,
        height=120,
        help="With a login, these are the addresses under which people log in.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        overlap = int(
            st.number_input(
                "Raters per game",
                1,
                _MOST_PER_GAME,
                2,
                key="team_overlap",
                width=160,
                help="Two are the least from which agreement can be told.",
            )
        )
        seed = int(
            st.number_input("Seed", 0, 999_999, 0, key="team_seed", width=160, help="Another seed draws lots anew.")
        )
    raters = [line.strip() for line in typed.splitlines() if line.strip()]
    if not raters:
        return
    games = [one.transcript_id for one in grid.games]
    assign = partial(assign_games, store, raters, overlap, who=lead, games=games, seed=seed)
    try:
        plan = assign(is_dry=True)
    except DramaturgError as error:
        plain(str(error))
        return
    _preview(plan, iteration)
    if st.button("Assign", type="primary", key="team_assign", disabled=not plan.pairs):
        act(assign, f"{counted(len(plan.pairs), 'assignment')} stored.")


def _preview(plan: AssignmentPlan, iteration: str | None) -> None:
    if plan.pairs:
        where = "all games" if iteration is None else "this iteration"
        st.caption(f"{counted(len(plan.pairs), 'new assignment')} in {where}, for {counted(plan.games, 'game')}:")
        frame = pd.DataFrame([{"Rater": rater, "New games": count} for rater, count in plan.loads.items()])
        status_table(frame, "New games of each rater")
    elif not plan.short:
        st.caption(f"Nothing to assign: every game has {counted(plan.overlap, 'rater')} or more.")
    if plan.short:
        st.warning(f"{counted(len(plan.short), 'game')} get fewer raters: too few of these people can rate them.")
