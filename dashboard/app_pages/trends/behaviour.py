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
    """Show how much, how evenly and to whom players talk in each iteration."""
    found = behaviour_of_iterations()
    if found.empty:
        return
    st.subheader("Who talks, and to whom", anchor=False)
    status_table(data.behaviour_words(found), "Behaviour of players by iteration")
    st.caption(
        "Means over the games. Most talkative: the words of that player, as a multiple of an even share. Addresses: to "
        "how many of the others a player speaks."
    )


def games_cost() -> None:
    """The cost of the games by iteration."""
    found = resources.read(data.spending)
    if not found.games.empty:
        st.subheader("What the games cost", anchor=False)
        st.caption("As the uploaded files say. A cost that is not in them is unknown, not 0.")
        status_table(found.games, "Cost of the games by iteration")


def model_calls() -> bool:
    """The calls to models, by model and by run, folded; nothing before the first. Whether there is one."""
    found = resources.read(data.spending)
    is_asked = not (found.models.empty and found.runs.empty)
    if is_asked:
        with st.expander("Calls to models", icon=":material/receipt_long:"):
            _calls(found)
    return is_asked


def _calls(found: data.Spending) -> None:
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
        status_table(data.model_rows(found), "Calls by model and purpose")
    if not found.runs.empty:
        st.subheader("By evaluation run", anchor=False)
        st.caption(
            "Known already: answers reused from earlier runs, at no cost. "
            "Recorded answers that are played back are in neither count."
        )
        status_table(data.run_rows(found), "Evaluation runs with their cost")
