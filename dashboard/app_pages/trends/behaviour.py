"""Behaviour of players over iterations, and the cost of models."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.trends import behaviour_data as data
from dashboard.shared import queries, resources
from evaluation.text.display import counted


def behaviour() -> None:
    """Draw how much and how evenly players talk in each iteration."""
    sizes = resources.read(queries.iteration_sizes)
    found = resources.share(data.behaviour_frame, tuple(name for name in sizes if sizes[name]))
    if found.empty:
        return
    st.subheader("Who talks, and to whom", anchor=False)
    st.dataframe(found, hide_index=True, alt="Behaviour of players by iteration")
    st.caption(
        "Means over the games. Largest share: how many times an even share the most talkative player says. Density: "
        "pairs of players who speak to each other, of all pairs. Answered: the share of them that answer."
    )


def games_cost() -> None:
    """The cost of the games by iteration."""
    found = resources.read(data.spending)
    if not found.games.empty:
        st.subheader("What the games cost", anchor=False)
        st.caption("As their files say; what they do not say is unknown, not nothing.")
        st.dataframe(found.games, hide_index=True, alt="Cost of the games by iteration")


def model_calls() -> None:
    """The calls to models, by model and by run."""
    found = resources.read(data.spending)
    st.subheader("Calls to models", anchor=False)
    if found.models.empty and found.runs.empty:
        st.info("No model was asked yet. Judges are started on the Agents page, or with `dramaturg judge`.")
    else:
        with st.container(horizontal=True):
            for label, figure in data.totals(found).items():
                st.metric(label, figure, border=True, width="content")
        st.caption(
            "Every call that Dramaturg made to a model, in US dollars: by judges, simulations, gate and interventions. "
            "Provider's cache: the share of tokens read that were in it, and cost less."
        )
        if not found.models.empty:
            st.subheader("By model and purpose", anchor=False)
            unpriced = int(found.models["unpriced"].sum())
            st.caption(
                "Tokens are those read and written; cached ones were in the provider's cache. Failed: calls without a "
                "usable answer. Unpriced: answered calls whose price nobody knows, which the sum leaves out. Median "
                "time: half of the calls took less. Slow: 19 of 20 took less. "
                + (f"The price of {counted(unpriced, 'call')} is not known and not in the sum." if unpriced else "")
            )
            st.dataframe(data.models_frame(found), hide_index=True, alt="Calls by model and purpose")
        if not found.runs.empty:
            st.subheader("By evaluation run", anchor=False)
            st.caption("Times are UTC. Known already: answers that were kept from before the run and cost nothing.")
            st.dataframe(data.runs_frame(found), hide_index=True, alt="Evaluation runs with their cost")
