"""Sign off an iteration as fascinating to watch, withdraw it, and show the record of both."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.changes import data
from dashboard.shared.changes.actions import attempt, person
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from evaluation.iterations.iteration import Iteration, SignOff
from evaluation.store import Store


def sign_off(store: Store, held: Iteration, place: str) -> None:
    """The sign-off with its author, the form to give or withdraw it, and the earlier decisions.

    Args:
        store: Where it is kept.
        held: The iteration.
        place: Tells the keys of several such forms on a page apart; none of the iteration's text.
    """
    made = resources.read(data.sign_offs, held.name)
    if held.is_signed_off:
        _withdraw_form(store, held, made[-1], f"{place}_{len(made)}")
    else:
        _sign_form(store, held, place)
    earlier = made[:-1] if held.is_signed_off else made
    if earlier:
        st.caption("Earlier, the latest first:")
        plain("\n".join(one.words for one in reversed(earlier)))


def _sign_form(store: Store, held: Iteration, place: str) -> None:
    with st.form(f"sign_off_{place}", border=False):
        st.markdown(
            "Before the project moves on, the rubric asks for a person who found these games **fascinating to watch**."
        )
        left, right = st.columns(2)
        if not identity.decider_name():
            left.text_input("Your name", key=f"signer_{place}", max_chars=200)
        right.text_input("What made them fascinating", key=f"sign_note_{place}", max_chars=2000)
        st.form_submit_button(
            "Sign off",
            key=f"sign_{place}",
            icon=":material/verified:",
            on_click=_sign,
            args=(store, held.name, place),
        )


def _withdraw_form(store: Store, held: Iteration, made: SignOff, place: str) -> None:
    plain(f"Signed off by {made.who} on {local_time(made.at)}. {made.note}".strip())
    with st.form(f"withdraw_{place}", border=False):
        st.text_input("Why it no longer holds", key=f"withdraw_note_{place}", max_chars=2000)
        st.form_submit_button(
            "Withdraw the sign-off",
            key=f"withdraw_now_{place}",
            icon=":material/undo:",
            on_click=_withdraw,
            args=(store, held.name, place),
        )


def _sign(store: Store, name: str, place: str) -> None:
    remark = st.session_state[f"sign_note_{place}"]
    if given := str(st.session_state.get(f"signer_{place}") or "").strip():
        identity.keep_decider(given)
    attempt(partial(store.iterations.sign_off, name, identity.decider_name(), remark), "Signed off.")


def _withdraw(store: Store, name: str, place: str) -> None:
    remark = st.session_state[f"withdraw_note_{place}"]
    attempt(partial(store.iterations.withdraw_sign_off, name, person(), remark), "The sign-off is withdrawn.")
