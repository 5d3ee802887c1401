"""Decisions of a person on an iteration: keep or revert, the baseline, and the sign-off. No widget leans."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.changes import attempt, is_recorded_already
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import LONGEST_TEXT, beyond, plain, require_length, tell_fault
from dashboard.shared.page_links import gate_commands, guide_link
from evaluation.errors import InputError
from evaluation.iterations.board import IterationSummary
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.iterations.iteration import Fate, Iteration, RecordedDecision, SignOff, departs_from
from evaluation.iterations.keep_or_revert import Choice, Decision, unnamed_target_words
from evaluation.store import Store
from evaluation.text.display import shortened
from evaluation.workflows.iterations import record_decision

_LABELS = {Fate.KEPT: "Keep it", Fate.REVERTED: "Revert it"}
_PROBLEM = "decision_problem"
_FATE, _WHY, _WHO = "fate_of", "why", "decided_by"


def decision_form(store: Store, shown: IterationSummary, *, is_main: bool) -> None:
    """The recorded decision with what follows from it, else the form for one.

    Args:
        store: Where it is kept.
        shown: The iteration in question.
        is_main: Whether recording is the main action of the page.
    """
    held = shown.iteration
    made = resources.read(store.iterations.decisions, held.name)
    if made and made[-1].is_withdrawal:
        plain(f"{made[-1].words[0].upper()}{made[-1].words[1:]}.")
    if held.recorded is not None:
        st.markdown("**The decision**")
        _recorded(store, held, len(made))
    elif shown.decision is not None:
        _record_form(store, held, shown.decision, len(made), is_main=is_main)
    else:
        st.caption(
            "It is the first iteration, so there is nothing to compare it with. Later ones are compared with it."
        )
    if earlier := made[:-1]:
        with st.expander("Earlier decisions", icon=":material/history:"):
            plain("\n".join(one.words for one in reversed(earlier)))


def _place(held: Iteration, seen: int) -> str:
    """Tells the keys of forms apart: a form that was filled in before another decision was recorded is not this one."""
    return f"{held.position}_{seen}"


def _recorded(store: Store, held: Iteration, seen: int) -> None:
    assert held.recorded is not None
    place = _place(held, seen)
    problem = st.session_state.pop(_PROBLEM, {}).get(f"{_WHO}_{place}")
    plain(held.recorded.words)
    with st.container(horizontal=True, vertical_alignment="center"):
        if held.is_kept and not held.is_baseline:
            st.button(
                "Make it the baseline",
                key=f"promote_kept_{held.position}",
                icon=":material/flag:",
                on_click=promote,
                args=(store, held.name),
            )
            with st.popover("Guard it in CI", type="tertiary"):
                st.markdown("Every night, new games against it; the second command ends with 1 where they got worse.")
                st.code(gate_commands(held.name, "nightly"), language=None, wrap_lines=True)
                guide_link("More about CI", state.IN_CI)
        if not identity.decider_name():
            state.begun_text("Your name (required)", f"{_WHO}_{place}", width=140)
        st.button(
            "Take it back",
            key=f"undecide_{place}",
            icon=":material/undo:",
            on_click=_withdraw,
            args=(store, held, seen),
        )
    if problem:
        tell_fault(problem, f"{_WHO}_{place}")


def _record_form(store: Store, held: Iteration, decision: Decision, seen: int, *, is_main: bool) -> None:
    place = _place(held, seen)
    # Told once: the next run of the page shows it no more.
    problems = st.session_state.pop(_PROBLEM, {})

    def told(of: str) -> None:
        if problem := problems.get(f"{of}_{place}"):
            tell_fault(problem, f"{of}_{place}")

    with st.container(gap="small"):
        # Newer games may have changed which iteration the page opens on.
        unnamed = "" if decision.is_target_named else unnamed_target_words(decision.target)
        plain(f"Keep or revert {shortened(held.name, LONGEST_NAME)}? {unnamed}")
        state.keep_begun(f"{_FATE}_{place}", list(Fate))
        st.radio(
            "**Your decision** (required)",
            list(Fate),
            index=None,
            format_func=lambda fate: _LABELS[fate],
            horizontal=True,
            key=f"{_FATE}_{place}",
            persist_state="session",
        )
        told(_FATE)
        state.begun_text(_why_label(decision), f"{_WHY}_{place}")
        told(_WHY)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if not identity.decider_name():
                state.begun_text("Your name (required)", f"{_WHO}_{place}", width=140)
            st.button(
                "Record the decision",
                key=f"decide_now_{place}",
                type="primary" if is_main else "secondary",
                on_click=_record,
                args=(store, held, decision, seen),
                help="The next iterations are compared with a kept one. You can take the decision back.",
            )
        told(_WHO)


def _why_label(decision: Decision) -> str:
    """The question for the reason, which says what a departure from the rule's answer needs."""
    departing = {
        Choice.KEEP: "Why? (required; if you revert: why against the rule)",
        Choice.REVERT: "Why? (required; if you keep: why against the rule)",
        Choice.NOT_YET: "Why so early? (required)",
        Choice.HIDDEN: "Why before you have rated these games? (required)",
    }
    return departing.get(decision.answer, "Why, as the rule cannot decide? (required)")


def _record(store: Store, held: Iteration, decision: Decision, seen: int) -> None:
    place = _place(held, seen)
    # A forged message may press the button of a form that was never drawn for this session.
    fate, reason = (str(st.session_state.get(f"{key}_{place}") or "") for key in (_FATE, _WHY))
    said = reason.strip()
    problems = {}
    if fate not in list(Fate):
        problems[_FATE] = "Choose one of the two."
    if not said:
        problems[_WHY] = "Say why."
    elif too_long := beyond(said, LONGEST_TEXT):
        problems[_WHY] = too_long
    if problem := _name_problem(place):
        problems[_WHO] = problem
    if problems:
        st.session_state[_PROBLEM] = {f"{field}_{place}": problem for field, problem in problems.items()}
    else:
        _store_decision(store, held.name, Fate(fate), said, decision, seen)


def _name_problem(place: str) -> str:
    """The problem with the name of who decides, which is taken where there is none; then empty."""
    try:
        identity.take_name(f"{_WHO}_{place}")
    except InputError as error:
        return f"{error.message} {error.remedy}"
    return "" if identity.decider_name() else "Enter your name."


def _store_decision(store: Store, name: str, fate: Fate, said: str, decision: Decision, seen: int) -> None:
    who = identity.decider_name() or identity.author_name()
    # A departure from the rule is stored with a reason of its own; people give one for both.
    remark = said if departs_from(fate, decision.answer) else ""

    def is_same(one: RecordedDecision) -> bool:
        return (one.fate, one.who, one.reason, one.is_withdrawal) == (fate, who, said, False)

    def change() -> None:
        with store.unit(write=True):
            if not is_recorded_already(store.iterations.decisions(name), seen, is_same, said):
                record_decision(store, name, fate, who=who, reason=said, note=remark)

    attempt(change, "The decision is recorded.")


def _withdraw(store: Store, held: Iteration, seen: int) -> None:
    place = _place(held, seen)
    if problem := _name_problem(place):
        st.session_state[_PROBLEM] = {f"{_WHO}_{place}": problem}
        return

    def change() -> None:
        with store.unit(write=True):
            if not is_recorded_already(store.iterations.decisions(held.name), seen, _is_own_withdrawal):
                store.iterations.withdraw_decision(held.name, who=identity.decider_name() or identity.author_name())

    attempt(change, "The decision is taken back.")


def _is_own_withdrawal(one: RecordedDecision | SignOff) -> bool:
    """Whether this person took it back, as by a second click; of another person's they are told."""
    return one.is_withdrawal and one.who == (identity.decider_name() or identity.author_name())


def promote(store: Store, name: str) -> None:
    """Makes the iteration the baseline; a widget callback."""
    attempt(partial(store.iterations.promote, name), "This iteration is the baseline now.")


def sign_off(store: Store, held: Iteration, place: str) -> None:
    """The sign-off with its author, the form to give or withdraw it, and the earlier decisions.

    Args:
        store: Where it is kept.
        held: The iteration.
        place: Tells the keys of several such forms on a page apart; none of the iteration's text.
    """
    made = resources.read(store.iterations.sign_offs, held.name)
    is_given = held.is_signed_off
    key = f"withdraw_{place}_{len(made)}" if is_given else f"sign_{place}"
    label = "Why it no longer holds" if is_given else "What made them fascinating"
    if is_given:
        plain(f"Signed off by {made[-1].who} on {local_time(made[-1].at)}. {made[-1].note}".strip())
    else:
        st.markdown(
            "Before the project moves on, the rubric asks for a person who found these games **fascinating to watch**."
        )
    with st.form(f"{key}_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        if not is_given and not identity.decider_name():
            st.text_input("Your name", key=f"signer_{place}")
        st.text_input(label, key=f"{key}_note")
        st.form_submit_button(
            "Withdraw the sign-off" if is_given else "Sign off",
            key=key,
            icon=":material/undo:" if is_given else ":material/verified:",
            on_click=_change_sign_off,
            args=(store, held, f"signer_{place}", f"{key}_note", label, len(made)),
        )
    earlier = made[:-1] if is_given else made
    if earlier:
        st.caption("Earlier, the latest first:")
        plain("\n".join(one.words for one in reversed(earlier)))


def _change_sign_off(store: Store, held: Iteration, signer: str, remark: str, label: str, seen: int) -> None:
    """Gives the sign-off, or withdraws the one that is given; a widget callback."""
    is_given, typed = held.is_signed_off, st.session_state[remark]

    def change() -> None:
        note = require_length(typed, LONGEST_TEXT, label)
        identity.take_name(signer)
        who = identity.author_name() if is_given else identity.decider_name()
        write = store.iterations.withdraw_sign_off if is_given else store.iterations.sign_off

        def is_same(one: SignOff) -> bool:
            return _is_own_withdrawal(one) if is_given else (one.who, one.note, one.is_withdrawal) == (who, note, False)

        with store.unit(write=True):
            if not is_recorded_already(store.iterations.sign_offs(held.name), seen, is_same, note):
                write(held.name, who, note)

    attempt(change, "The sign-off is withdrawn." if is_given else "Signed off.")
