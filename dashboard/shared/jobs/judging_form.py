"""The parts that every form for asking a judge shares: the judge in force, and the start of the job."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_jobs import JudgingRequest, config_of
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.judging.judge_config import JudgeConfig
from evaluation.store import Store


def judge_in_force(store: Store, without_model: str) -> JudgeConfig | None:
    """The judge's configuration, named above the form; ``None`` where its settings cannot be used, which is said.

    Args:
        store: Where the settings are.
        without_model: Our own words on what happens without a model; shown when there is none.
    """
    try:
        config = config_of(store)
    except DramaturgError as error:
        st.error("The judge's settings cannot be used.")
        plain(str(error))
        return None
    if config.mode == "offline":
        st.info(without_model)
    else:
        st.caption(f"Answers come from this judge ({config.mode}):")
        plain(config.model)
    return config


def start_judging(store: Store, order: JudgingRequest) -> None:
    """Starts the job and draws the page anew, or says why it did not start."""
    try:
        identity.require(Action.EVALUATE)
        jobs.start_judging(store, order)
    except DramaturgError as error:
        st.error("That did not start.")
        plain(str(error))
    else:
        st.rerun()
