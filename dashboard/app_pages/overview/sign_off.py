"""Sign off an iteration as fascinating to watch, withdraw it, and show the record of both."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.changes import data
from dashboard.shared.changes.actions import attempt, is_recorded_already, person
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain
from dashboard.shared.typed_text import LONGEST_TEXT, require_length, take_name
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
        _withdraw_form(store, held, made, f"{place}_{len(made)}")
    else:
        _sign_form(store, held, place, len(made))
    earlier = made[:-1] if held.is_signed_off else made
    if earlier:
        st.caption("Earlier, the latest first:")
        plain("\n".join(one.words for one in reversed(earlier)))


def _sign_form(store: Store, held: Iteration, place: str, seen: int) -> None:
    with st.form(f"sign_off_{place}", border=False):
        st.markdown(
            "Before the project moves on, the rubric asks for a person who found these games **fascinating to watch**."
        )
        left, right = st.columns(2)
        if not identity.decider_name():
            left.text_input("Your name", key=f"signer_{place}")
        right.text_input("What made them fascinating", key=f"sign_note_{place}")
        st.form_submit_button(
            "Sign off",
            key=f"sign_{place}",
            icon=":material/verified:",
            on_click=_sign,
            args=(store, held.name, place, seen),
        )


def _withdraw_form(store: Store, held: Iteration, made: list[SignOff], place: str) -> None:
    plain(f"Signed off by {made[-1].who} on {local_time(made[-1].at)}. {made[-1].note}".strip())
    with st.form(f"withdraw_{place}", border=False):
        st.text_input("Why it no longer holds", key=f"withdraw_note_{place}")
        st.form_submit_button(
            "Withdraw the sign-off",
            key=f"withdraw_now_{place}",
            icon=":material/undo:",
            on_click=_withdraw,
            args=(store, held.name, place, len(made)),
        )


def _sign(store: Store, name: str, place: str, seen: int) -> None:
    remark = st.session_state[f"sign_note_{place}"]

    def change() -> None:
        note = require_length(remark, LONGEST_TEXT, "What made them fascinating")
        take_name(f"signer_{place}")
        who = identity.decider_name()

        def is_same(one: SignOff) -> bool:
            return (one.who, one.note, one.is_withdrawal) == (who, note, False)

        with store.unit(write=True):
            if not is_recorded_already(store.iterations.sign_offs(name), seen, is_same, note):
                store.iterations.sign_off(name, who, note)

    attempt(change, "Signed off.")


def _withdraw(store: Store, name: str, place: str, seen: int) -> None:
    remark = st.session_state[f"withdraw_note_{place}"]

    def change() -> None:
        note = require_length(remark, LONGEST_TEXT, "Why it no longer holds")
        with store.unit(write=True):
            if not is_recorded_already(store.iterations.sign_offs(name), seen, lambda one: one.is_withdrawal, note):
                store.iterations.withdraw_sign_off(name, person(), note)

    attempt(change, "The sign-off is withdrawn.")
