"""Start an experiment or an A/B test: its settings, number of calls, cost, limits, and the button."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import streamlit as st

from dashboard.app_pages.experiments import data
from dashboard.shared import queries, resources, state
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.judging_form import limit_inputs
from dashboard.shared.notices import refusal_told
from evaluation.access import Action
from evaluation.experiments.estimate import estimate
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT, ExperimentPlan, scenarios
from evaluation.experiments.study import StudyPlan
from evaluation.judging.judge_config import SETTINGS_KEY, judge_config, price_of
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store
from evaluation.workflows.ab_tests import iterations_test
from evaluation.workflows.iterations import default_pair
from evaluation.workflows.studies import example_plan

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
    more = st.expander("More", icon=":material/tune:")
    with left:
        scenario = st.selectbox(
            "Scenario", list(scenarios()), format_func=lambda key: scenarios()[key].title, key="scenario"
        )
        chosen = scenarios()[scenario]
        st.caption(
            f"{chosen.treatment_words.capitalize()}. Full size: {chosen.agents} agents in {chosen.environments} "
            f"conversations of {chosen.steps} steps on each side."
        )
    with right:
        speaker = _SCRIPT
        if has_model:
            speaker = st.segmented_control(
                "Who speaks and judges", [_SCRIPT, _MODEL], default=_MODEL, required=True, key="speaker"
            )
        scale = st.number_input(
            "Scale", 0.01, 1.0, 0.1, step=0.05, key="experiment_scale", help="Rounded up; two pairs at least."
        )
        steps = st.number_input("Steps", 1, 200, chosen.steps, key=f"steps_{scenario}")
    with more:
        seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="experiment_seed")
        is_batched = st.toggle(
            "Batch questions",
            False,
            key="experiment_batched",
            help="Up to ten in one call of the model: cheaper, a little less exact.",
        )
        limits = limit_inputs("experiment")
    is_scripted = speaker == _SCRIPT
    plan = ExperimentPlan(
        chosen,
        SCRIPTED_MODEL if is_scripted else config.model,
        scale,
        seed,
        steps,
        is_batched=is_batched,
        effects=True if is_scripted else None,
    )
    expected = estimate(plan, PropositionLibrary.load(), config).words(price_of)
    st.caption(f"{expected} What is known from an earlier run of the same is not asked again.")
    start_button(store, plan, limits, "Start", "start_experiment")


def start_button(store: Store, plan: StudyPlan, options: dict[str, Any], label: str, key: str) -> None:
    """The button that starts a study or goes on with it; one of its kind runs at a time."""
    is_busy = jobs.running(store, plan.kind) is not None
    if st.button(label, icon=":material/play_arrow:", type="primary", disabled=is_busy, key=key):
        start_study(store, plan, options)
    if is_busy:
        st.caption("Another one is running; this one can start when it is done.")


def load_experiment(store: Store) -> None:
    """A button that runs the smallest experiment by the script, to have one to look at."""
    with st.container(horizontal_alignment="center"):
        start_button(store, example_plan(), {}, "Load an example (no key, no cost)", "example_experiment")


def start_study(store: Store, plan: StudyPlan, options: dict[str, Any]) -> None:
    """Starts the job of an experiment or an A/B test and opens it, or says why it did not start."""
    with refusal_told("That did not start."):
        identity.require(Action.EVALUATE)
        jobs.start_study(store, plan, options)
        state.choose_next(**{CHOSEN[plan.kind]: plan.id})


CHOSEN = {EXPERIMENT: "chosen_experiment", AB_TEST: "chosen_ab_test"}
"""The keys of the lists of experiments and of A/B tests."""

_TEXT, _BEGIN_WITH, _BEFORE, _AFTER = "ab_text", "ab_begin_with", "ab_before", "ab_after"
_ITERATIONS = "Two of your iterations"
_SIMULATED = "An example: simulated conversations (need a model)"


def ab_form(store: Store) -> None:
    """The configuration of a test, its estimate as it changes, and the button that starts it."""
    content = _configuration()
    if not content.strip():
        st.info("Write the configuration, or paste it.")
        return
    with refusal_told("This test cannot be run."):
        test, expected = resources.read(data.read_test, content)
        limits = limit_inputs("ab")
        st.caption(expected.words(price_of))
        start_button(store, test, limits, "Run the A/B test", "start_ab_test")


def _configuration() -> str:
    """The text of the configuration."""
    names = _with_games()
    examples = [*([_ITERATIONS] if len(names) > 1 else []), _SIMULATED]
    chosen = st.selectbox("Begin with", examples, key=_BEGIN_WITH, on_change=_fill)
    place = st.container()
    if chosen == _ITERATIONS:
        first = _pair()
        with st.container(horizontal=True):
            for label, key, at_first in zip(("Reference", "Iteration"), (_BEFORE, _AFTER), first, strict=True):
                st.selectbox(label, names, names.index(at_first), key=key, on_change=_fill, filter_mode="contains")
        place = st.expander("More: the configuration", icon=":material/tune:")
    if _TEXT not in st.session_state:
        _fill()
    return place.text_area(
        "Configuration (YAML or JSON)",
        height=360,
        key=_TEXT,
        help="Change it, or paste your own: it is the file that `dramaturg ab` reads.",
    )


def _with_games() -> list[str]:
    """The iterations that can be compared."""
    return [name for name, games in resources.read(queries.iteration_sizes).items() if games]


def _pair() -> tuple[str, str]:
    """The pair that the Overview begins with, else the last two; both have games."""
    names, pair = _with_games(), resources.read(default_pair)
    return pair if pair and set(pair) <= set(names) else (names[-2], names[-1])


def _target(store: Store, name: str) -> str | None:
    return store.iterations.get(name).target_metric


def _fill() -> None:
    chosen = st.session_state.get(_BEGIN_WITH, _SIMULATED)
    if chosen == _ITERATIONS:
        before, after = (st.session_state.get(key, name) for key, name in zip((_BEFORE, _AFTER), _pair(), strict=True))
        st.session_state[_TEXT] = iterations_test(before, after, resources.read(_target, after))
    else:
        st.session_state[_TEXT] = (files("evaluation.experiments") / "ab_simulation.yaml").read_text("utf-8")
