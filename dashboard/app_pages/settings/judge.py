"""The judge's settings on the Settings page: provider, reachability and budget. Keys are never shown."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.errors import DramaturgError
from evaluation.judging.judge_config import DEFAULT_MODEL, SETTINGS_KEY, JudgeConfig, has_key, judge_config
from evaluation.store import Store

_MODES = {
    "live": "A model is asked: there is a key for it in the server's environment, or an address.",
    "recorded": "Recorded answers are played; no model is asked.",
    "offline": "There is no key for this model in the server's environment and no address, so rules judge.",
}


def judge_settings(store: Store) -> None:
    """The model, the address of its server and the limits of a run; what the environment says goes before them."""
    st.subheader("Judge", anchor=False)
    held = dict(store.settings.get(SETTINGS_KEY) or {})
    _tell(held)
    usd = held.get("max_usd")
    left, right = st.columns(2, gap="medium")
    wanted: dict[str, object] = {
        "model": left.text_input("Model", held.get("model"), key="judge_model", placeholder=DEFAULT_MODEL),
        "base_url": right.text_input(
            "Address of an OpenAI-compatible server",
            held.get("base_url"),
            key="judge_address",
            placeholder="Only where the model is on a server of your own",
        ),
        "max_usd": left.number_input(
            "Most that a run may spend (USD)",
            0.0,
            None,
            None if usd is None else float(usd),
            key="judge_usd",
            placeholder="no limit",
        ),
        "max_calls": right.number_input(
            "Most calls of a run", 0, None, held.get("max_calls"), key="judge_calls", placeholder="no limit"
        ),
    }
    wanted = {name: value for name, value in wanted.items() if value is not None and value != ""}
    merged = {name: value for name, value in held.items() if name not in _FIELDS} | wanted
    if st.button("Save the judge", key="save_judge", disabled=merged == held):
        _save(store, merged)
    st.caption(
        "DRAMATURG_MODEL and OPENAI_BASE_URL in the environment go before what is set here. Keys, such as "
        "OPENAI_API_KEY, come from the environment alone: they are neither stored nor shown."
    )


_FIELDS = ("model", "base_url", "max_usd", "max_calls")


def _tell(held: dict[str, object]) -> None:
    try:
        config: JudgeConfig = judge_config(stored=held)
    except DramaturgError as error:
        st.error("The judge's settings cannot be used.")
        plain(str(error))
        return
    st.caption(_MODES[str(config.mode)])
    key = "there is a key for it" if has_key(config.model) else "there is no key for it"
    plain(f"In force: {config.model}, {config.base_url or 'at its provider'}; {key}.")


def _save(store: Store, wanted: dict[str, object]) -> None:
    try:
        identity.require(Action.CONFIGURE)
        judge_config(stored=wanted)
        store.settings.set(SETTINGS_KEY, wanted)
    except DramaturgError as error:
        st.error("The judge's settings were not stored.", icon=":material/error:")
        plain(str(error))
    else:
        st.session_state["settings_saved"] = "The judge's settings are stored."
        st.rerun()
