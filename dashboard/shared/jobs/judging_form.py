"""Forms for asking a judge: the judge in force, the start of the job, and the button that has one game read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from dashboard.shared import state
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import open_when_done
from dashboard.shared.jobs.judging_jobs import ROWS, JudgingRequest, RowsOrder, config_of
from dashboard.shared.notices import plain, refusal_told
from evaluation.access import Action
from evaluation.judging.judge_config import JudgeConfig
from evaluation.store import Store
from evaluation.workflows.judging import estimate_judging

_NO_LIMITS: Mapping[str, Any] = MappingProxyType({})


def judge_in_force(store: Store, without_model: str) -> JudgeConfig | None:
    """The judge's configuration, named above the form; ``None`` where its settings cannot be used, which is said.

    Args:
        store: Where the settings are.
        without_model: Our own words on what happens without a model; shown when there is none.
    """
    with refusal_told("The judge's settings cannot be used."):
        config = config_of(store)
        if config.mode == "offline":
            st.info(without_model)
        else:
            st.caption(f"Answers come from this judge ({config.mode}):")
            plain(config.model)
        return config
    return None


def limit_inputs(key: str, known: Mapping[str, Any] = _NO_LIMITS) -> dict[str, Any]:
    """The fields for what a run may spend and how often it may call.

    Args:
        key: Tells the fields of one form from others.
        known: Limits that stand in the fields at first: ``max_usd`` and ``max_calls``.
    """
    usd, calls = known.get("max_usd"), known.get("max_calls")
    with st.container(horizontal=True):
        return {
            "max_usd": st.number_input(
                "Spending limit (USD)", 0.0, value=usd, step=0.5, key=f"{key}_usd", placeholder="no limit"
            ),
            "max_calls": st.number_input(
                "Limit on calls", 0, value=calls, step=100, key=f"{key}_calls", placeholder="no limit"
            ),
        }


def reading_panel(store: Store, transcript_id: str) -> None:
    """The panel "Let a model read this game": what it would cost, and the button. Progress stands on every page."""
    with state.linked_box("Let a model read this game", "read_game") as is_open:
        if not is_open:
            return
        config = judge_in_force(store, "There is no key and no address of a model. Settings says how to connect one.")
        if config is None or config.mode == "offline":
            return
        st.caption(
            "It reads twenty messages a call and decides memory accuracy, strategic depth, coherence and role "
            "consistency. What the record proves and what people override outranks it."
        )
        if config.mode == "live":
            plain(f"{estimate_judging(store, [transcript_id], config)}.")
        is_busy = jobs.running(store, ROWS) is not None
        if st.button("Read it", icon=":material/play_arrow:", type="primary", disabled=is_busy, key="start_reading"):
            start_judging(store, RowsOrder(transcripts=[transcript_id]))
        if is_busy:
            st.caption("A model is reading games; what is done is stored, and Cancel stops it.")


def start_judging(store: Store, order: JudgingRequest) -> None:
    """Starts the job and draws the page anew, or says why it did not start."""
    with refusal_told("That did not start."):
        identity.require(Action.EVALUATE)
        open_when_done(jobs.start_judging(store, order))
        st.rerun()
