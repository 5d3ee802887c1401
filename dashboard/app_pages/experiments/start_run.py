"""Start an experiment from the page: its description, number of calls, cost, and the button."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.experiments import data
from dashboard.shared import state
from dashboard.shared.jobs import jobs
from dashboard.shared.notices import plain, words_of
from evaluation.errors import DramaturgError
from evaluation.experiments.estimate import estimate
from evaluation.experiments.plan import DEFAULT_SAMPLE_SIZE, ExperimentPlan, scenarios
from evaluation.judging.judge_config import SETTINGS_KEY, judge_config, price_of
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store
from evaluation.workflows.experiment_runs import KIND, example_plan

_SCRIPT, _MODEL = "A script (no key, no cost)", "The judge's model"


def start_form(store: Store) -> None:
    """The settings of a new run, its estimate as they change, and the button that starts it."""
    config = judge_config({}, store.settings.get(SETTINGS_KEY))
    has_model = config.mode == "live"
    if not has_model:
        st.info(
            "There is no key and no address of a model, so only the script can speak and judge. Its runs show how an "
            "experiment works and what its report looks like. Set OPENAI_API_KEY or OPENAI_BASE_URL for a model."
        )
    left, right = st.columns(2, gap="large")
    with left:
        scenario = st.selectbox(
            "Scenario", list(scenarios()), format_func=lambda key: scenarios()[key].title, key="scenario"
        )
        chosen = scenarios()[scenario]
        st.caption(
            f"Treatment: {data.treatment_words(chosen.treatment_words)}. "
            f"Full size: {chosen.agents} agents in {chosen.environments} conversations of {chosen.steps} steps on each "
            "side."
        )
        scale = st.number_input(
            "Scale", 0.01, 1.0, 0.1, step=0.05, key="experiment_scale", help="Rounded up; two pairs at least."
        )
        seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="experiment_seed")
    with right:
        # Only what can be chosen: the label of a choice that is greyed out is too faint to read.
        speakers = [_SCRIPT, _MODEL] if has_model else [_SCRIPT]
        speaker = st.radio("Who speaks and judges", speakers, index=len(speakers) - 1, key="speaker")
        steps = st.number_input("Steps", 1, 200, chosen.steps, key=f"steps_{scenario}")
        is_batched = st.toggle(
            "Ask up to ten questions in a call", False, key="experiment_batched", help="Cheaper, a little less exact."
        )
        usd = st.number_input("Spending limit (USD)", 0.0, value=None, step=1.0, key="experiment_usd")
        calls = st.number_input("Limit on calls", 0, value=None, step=1000, key="experiment_calls")
    is_scripted = speaker == _SCRIPT
    plan = ExperimentPlan(
        chosen,
        SCRIPTED_MODEL if is_scripted else config.model,
        scale,
        seed,
        steps,
        DEFAULT_SAMPLE_SIZE,
        is_batched,
        effects=True if is_scripted else None,
    )
    expected = estimate(plan, PropositionLibrary.load(), config).words(price_of)
    st.caption(f"{expected} What is known from an earlier run of the same is not asked again.")
    is_busy = jobs.running(store, KIND) is not None
    if st.button(
        "Start",
        icon=":material/play_arrow:",
        type="primary",
        disabled=is_busy,
        key="start_experiment",
    ):
        _start(store, plan, {"max_usd": usd, "max_calls": calls})
    if is_busy:
        st.caption("An experiment is running; another one can start when it is done.")


def load_example(store: Store) -> None:
    """A button that runs the smallest experiment by the script, to have one to look at."""
    if example_button(store, KIND, "A small run by the script: no key, no cost, a few seconds."):
        _start(store, example_plan(), {})


def example_button(store: Store, kind: str, caption: str) -> bool:
    """The button of an empty view that loads an example by a job of that kind; whether it was pressed."""
    with st.container(horizontal_alignment="center"):
        is_pressed = st.button(
            "Load an example",
            icon=":material/science:",
            type="primary",
            disabled=jobs.running(store, kind) is not None,
            key=f"example_{kind}",
        )
    st.caption(caption, text_alignment="center")
    return is_pressed


def _start(store: Store, plan: ExperimentPlan, options: dict[str, float | int | None]) -> None:
    try:
        jobs.start_experiment(store, plan, options)
    except DramaturgError as error:
        st.error("That did not start.")
        plain(words_of(error))
    else:
        state.choose_next(chosen_experiment=plan.record.id)
