"""Ask a judge about a few messages with edited propositions, before they are saved."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.jobs.judging_jobs import config_of
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent, score_text
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config
from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.persona_runs import recorded_model
from evaluation.workflows.propositions.trial import TRIAL_MESSAGES, Trial, estimate_trial, run_trial

_CHOSEN, _RECORDED = "chosen", "recorded"
_FOUND = "trial_found"
_MODES = {
    "live": "The judge of the settings, a model",
    "recorded": "The judge of the settings, recorded answers",
    "offline": "Rules, without a model",
}


def trial_panel(
    store: Store, person: SelectableAgent, dimension: Dimension, propositions: tuple[Proposition, ...]
) -> None:
    """A judge to choose, what it would ask and cost, and its answers."""
    st.subheader("Try it before saving", anchor=False)
    what = "one conversation" if person.is_channel else counted(TRIAL_MESSAGES, "message")
    st.caption(
        f"Asks about {what} of this agent only, with the propositions as they stand above. A claim about a whole "
        "conversation is asked once. Nothing is stored but a model's answers, which are not paid for twice."
    )
    try:
        config = _chosen_judge(store)
        trial = Trial(person.id, dimension, propositions, config)
        plain(estimate_trial(store, trial))
        if st.button(f"Ask about {what}", icon=":material/play_arrow:", key="run_trial"):
            identity.require(Action.EVALUATE)
            with st.spinner("The judge reads."):
                st.session_state[_FOUND] = (trial, *run_trial(store, trial))
    except DramaturgError as error:
        st.warning("That cannot be tried.")
        plain(str(error))
        return
    found = st.session_state.get(_FOUND)
    if found is not None and found[0] == trial:
        _answers(found[1], found[2])


def _chosen_judge(store: Store) -> JudgeConfig:
    config = config_of(store)
    options = [_CHOSEN, *([_RECORDED] if config.mode != "recorded" else [])]
    names = {_CHOSEN: _MODES[str(config.mode)], _RECORDED: "Recorded answers (no key; shipped claims and agents only)"}
    wanted = st.radio("Judge", options, format_func=names.__getitem__, key="trial_judge", horizontal=True)
    if wanted == _CHOSEN:
        return config
    played = judge_config({"mode": "recorded"}, store.settings.get(SETTINGS_KEY))
    return played.model_copy(update={"model": recorded_model(played)})


def _answers(found: tuple[PropositionScore, ...], cost: str) -> None:
    st.caption(f"{counted(sum(each.score is not None for each in found), 'answer')} with a score. {cost}.")
    with st.grid(3, min_column_width=260):
        for each in found:
            with st.container(border=True, height="stretch", gap="xsmall"):
                _answer(each)


def _answer(found: PropositionScore) -> None:
    with st.container(horizontal=True):
        st.badge(score_text(found.score, found.proposition.dimension), color="blue")
        if found.mark_words:
            st.badge(f"marked {found.mark_words}", color="gray")
    plain(found.claim)
    if found.snippet:
        st.caption("The message" if found.reference else "From the conversation")
        st.code(found.snippet, language=None, wrap_lines=True)
    plain(found.reason or found.detail)
