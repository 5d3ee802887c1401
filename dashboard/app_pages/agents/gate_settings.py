"""The form for one agent's correction settings: each with its default, checked before it is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import groupby

import streamlit as st

from dashboard.app_pages.agents import gate_data as data
from dashboard.shared import resources, state
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain, words_of
from evaluation.access import Action
from evaluation.corrections.config import CorrectionConfig, read_config
from evaluation.corrections.statistics import COUNT, MARK, SWITCH, Setting, default_of, settings
from evaluation.errors import DramaturgError
from evaluation.store import Store
from evaluation.text.display import counted

_AGENT = "checked_agent"
_SAVED = "correction_saved"
_TIMES = "corrections_stored"


def settings_form(store: Store) -> None:
    """The form for one agent; whoever is known can be configured before they ever speak."""
    names = resources.read(data.names_of_agents)
    agent = _choose(names)
    held = store.corrections.config(agent)
    _tell_what_holds(held)
    if (saved := st.session_state.pop(_SAVED, None)) is not None:
        st.success(saved)
    place = _place(agent, held)
    with st.form(f"correction_settings_{place}"):
        values: dict[str, bool | float] = {}
        changed = {settings()[name].part for name in _changed(held)}
        for number, (part, entries) in enumerate(groupby(settings().items(), key=lambda entry: entry[1].part)):
            with st.expander(part, expanded=number == 0 or part in changed), st.grid(4, min_column_width=210):
                # What a switch turns on stands under it.
                for _, cell in groupby(entries, key=lambda entry: entry[1].switch or entry[0]):
                    with st.container():
                        values |= {name: _field(name, setting, held, place) for name, setting in cell}
        with st.container(horizontal=True):
            is_sent = st.form_submit_button("Save", type="primary", key="save_corrections")
            is_reset = st.form_submit_button("Back to the defaults", icon=":material/undo:", key="reset_corrections")
    if is_sent:
        _save(store, agent, values)
    if is_reset:
        _reset(store, agent)


def _choose(names: Mapping[str, str]) -> str:
    ids = list(names)
    wanted = state.chosen(_AGENT, ids)
    chosen = st.selectbox(
        "Agent",
        ids,
        index=ids.index(wanted) if wanted else 0,
        format_func=lambda key: data.agent_words(names, key),
        key="configured_agent",
    )
    state.choose(**{_AGENT: chosen})
    return chosen


def _tell_what_holds(held: CorrectionConfig) -> None:
    changed = _changed(held)
    if not changed:
        st.caption("Nothing is switched on here. Programs use these settings unless they bring their own.")
    else:
        labels = ", ".join(
            f"{settings()[name].label} ({settings()[name].shown(getattr(held, name))})" for name in changed
        )
        st.caption(f"{counted(len(changed), 'setting')} other than the default: {labels}.")


def _changed(held: CorrectionConfig) -> list[str]:
    return [name for name in settings() if getattr(held, name) != default_of(name)]


def _field(name: str, setting: Setting, held: CorrectionConfig, place: str) -> bool | float:
    value, key = getattr(held, name), f"{name}_{place}"
    shown = f"{setting.meaning} Default: {setting.shown(default_of(name))}."
    if setting.kind == SWITCH:
        return st.toggle(setting.label, value, key=key, help=shown)
    if setting.kind == COUNT:
        return st.number_input(setting.label, 0, value=int(value), step=1, key=key, help=shown)
    step = 0.5 if setting.kind == MARK else 0.05
    # Wide open on purpose: what lies outside is refused with the reason, and not silently changed.
    return float(
        st.number_input(
            f"{setting.label} ({setting.kind})", value=float(value), step=step, format="%g", key=key, help=shown
        )
    )


def _save(store: Store, agent: str, values: Mapping[str, bool | float]) -> None:
    try:
        identity.require(Action.CONFIGURE)
        store.corrections.configure(agent, read_config(values))
    except DramaturgError as error:
        st.error("Nothing is stored yet. Correct this first:")
        plain(words_of(error))
    else:
        _tell("Stored. The next message of this agent is checked like this.")


def _reset(store: Store, agent: str) -> None:
    identity.require(Action.CONFIGURE)
    store.corrections.forget(agent)
    _tell("Back to the defaults: nothing is switched on here.")


def _place(agent: str, held: CorrectionConfig) -> str:
    """Tells the fields of this agent, and of what is stored for it, from others: whenever that changes they show it."""
    times = st.session_state.get(_TIMES, 0)
    return hashlib.blake2b(f"{agent}\n{held.model_dump_json()}\n{times}".encode(), digest_size=6).hexdigest()


def _tell(done: str) -> None:
    st.session_state[_SAVED] = done
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1
    st.rerun()
