"""Behaviour of players over iterations, and the cost of models."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.app_pages.trends import behaviour_data as data
from dashboard.shared import queries, resources
from dashboard.shared.status_table import status_table
from evaluation.text.display import counted


def behaviour_of_iterations() -> pd.DataFrame:
    """Behaviour of the players, by iteration with games."""
    sizes = resources.read(queries.iteration_sizes)
    return resources.share(data.behaviour_frame, tuple(name for name in sizes if sizes[name]))


def behaviour() -> None:
    """Draw how much and how evenly players talk in each iteration."""
    found = behaviour_of_iterations()
    if found.empty:
        return
    st.subheader("Who talks, and to whom", anchor=False)
    status_table(found.round(_PLACES), "Behaviour of players by iteration")
    st.caption(
        "Means over the games. Largest share: the words of the most talkative player; 1.0 is an even share. Addressed: "
        "of all ways from one player to another (10 players: 90), the share used. Answered: the share of these that "
        "was used in return, too."
    )


_PLACES = {"Messages": 1, "Words": 0, "Largest share": 1, "Addressed": 2, "Answered": 2}


def games_cost() -> None:
    """The cost of the games by iteration."""
    found = resources.read(data.spending)
    if not found.games.empty:
        st.subheader("What the games cost", anchor=False)
        st.caption("As the uploaded files say. A cost that is not in them is unknown, not 0.")
        status_table(found.games, "Cost of the games by iteration")


def model_calls() -> None:
    """The calls to models, by model and by run."""
    found = resources.read(data.spending)
    if found.models.empty and found.runs.empty:
        st.info("No model was asked yet. Judges are started on the Agents page, or with `dramaturg judge`.")
    else:
        with st.container(horizontal=True):
            for label, figure in data.totals(found).items():
                st.metric(label, figure, border=True, width="content")
        st.caption(
            "Every call for judging, simulations and checks of messages; those of a script cost nothing. Provider's "
            "cache: the share of input tokens that the provider had cached, which cost less."
        )
        if not found.models.empty:
            st.subheader("By model and purpose", anchor=False)
            unpriced = int(found.models["unpriced"].sum())
            st.caption(
                "Tokens: input / output. Failed: calls without a usable answer. No price: answered calls of models "
                "without a known price, which are not in the sum. Slow: 95 of 100 calls took less. "
                + (f"The price of {counted(unpriced, 'call')} is not known and not in the sum." if unpriced else "")
            )
            status_table(data.models_frame(found), "Calls by model and purpose")
        if not found.runs.empty:
            st.subheader("By evaluation run", anchor=False)
            st.caption(
                "Times are UTC. Known already: answers reused from earlier runs, at no cost. "
                "Recorded answers that are played back are in neither count."
            )
            status_table(data.runs_frame(found), "Evaluation runs with their cost")
