"""Keep or revert: the rule's answer with its reasons, and the decision that a person recorded."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.changes import data
from dashboard.shared.changes.actions import attempt, person
from dashboard.shared.formatting import look
from dashboard.shared.notices import plain
from dashboard.shared.version_notes import comparison_note
from evaluation.errors import InputError
from evaluation.iterations import Decision, Fate, Iteration
from evaluation.iterations.board import Board, IterationSummary
from evaluation.store import Store
from evaluation.workflows.boards import record_decision

_NO_REFERENCE = "There is nothing before it to compare it with: later iterations are compared with this one."
_LABELS = {Fate.KEPT: "Kept", Fate.REVERTED: "Reverted"}


def keep_or_revert(store: Store, board: Board, shown: IterationSummary, *, has_form: bool) -> None:
    """The decision against the iteration's reference, and the form in which a person records what was done.

    Args:
        store: Where it is kept.
        board: All iterations.
        shown: The iteration in question.
        has_form: Whether the form for a decision that is not recorded yet stands here.
    """
    st.subheader("Keep the change?", anchor=False)
    with st.container(border=True):
        comparison_note(shown.iteration.name)
        decision = shown.decision
        if decision is None:
            is_baseline = "This is the baseline. " if shown.iteration.is_baseline else ""
            st.markdown(f"{is_baseline}{_NO_REFERENCE}")
            if shown.iteration.recorded is not None:
                _person_part(store, shown.iteration, None)
            return
        rule_answer(decision)
        plain("\n".join(board.decision_words(shown.iteration.name)))
        _person_part(store, shown.iteration, decision if has_form else None)


def rule_answer(decision: Decision) -> None:
    """The rule's answer as a badge, and the iteration that it is against."""
    appearance = look(decision.choice)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("By the rubric's rule", width="content")
        st.badge(appearance.label, color=appearance.color)
    plain(f"against {decision.reference}")


def _person_part(store: Store, held: Iteration, decision: Decision | None) -> None:
    """The recorded decision, else the form for one; ``None`` draws no form."""
    made = resources.read(data.decisions, held.name)
    place = f"{held.position}_{len(made)}"
    if held.recorded is not None:
        appearance = look(held.recorded.fate)
        st.badge(appearance.label, color=appearance.color)
        plain(held.recorded.words)
        with st.container(horizontal=True):
            _next_click(store, held)
            st.button(
                "Take it back",
                key=f"undecide_{place}",
                icon=":material/undo:",
                on_click=_withdraw,
                args=(store, held.name),
            )
    elif decision is not None:
        with st.expander("Record what you decide", icon=":material/gavel:", key=f"record_{place}"):
            _record_form(store, held, decision, place)
    earlier = made[:-1] if held.recorded else made
    if earlier:
        with st.expander("Earlier decisions", icon=":material/history:"):
            plain("\n".join(one.words for one in reversed(earlier)))


def _next_click(store: Store, held: Iteration) -> None:
    if held.is_kept and not held.is_baseline:
        st.button(
            "Make it the baseline",
            key=f"promote_kept_{held.position}",
            icon=":material/flag:",
            on_click=promote,
            args=(store, held.name),
        )


def record_popover(store: Store, held: Iteration, decision: Decision) -> None:
    """The form that records a person's decision, behind the page's main button."""
    place = f"{held.position}_{len(resources.read(data.decisions, held.name))}"
    with st.popover("Record what you decide", icon=":material/gavel:", type="primary", key=f"record_{place}"):
        _record_form(store, held, decision, place)


def _record_form(store: Store, held: Iteration, decision: Decision, place: str) -> None:
    with st.form(f"decide_{place}", border=False):
        st.radio(
            "What becomes of the change?",
            list(Fate),
            format_func=lambda fate: _LABELS[fate],
            horizontal=True,
            key=f"fate_of_{place}",
        )
        st.text_input("Why", key=f"why_{place}", max_chars=2000)
        st.text_input(
            f"Why you depart from the rule, if you do (it says {decision.choice.words})",
            key=f"departure_{place}",
            max_chars=2000,
        )
        st.form_submit_button(
            "Record the decision",
            key=f"decide_now_{place}",
            icon=":material/gavel:",
            on_click=_record,
            args=(store, held.name, place),
        )
    st.caption("A kept iteration is what the next ones are compared with. You can take it back.")


def _record(store: Store, name: str, place: str) -> None:
    def change() -> None:
        # A forged message may press the button of a form that was never drawn for this session.
        fate, reason, note = (st.session_state.get(f"{key}_{place}") for key in ("fate_of", "why", "departure"))
        if fate not in list(Fate):
            raise InputError("Neither kept nor reverted is chosen.", place="decision", remedy="Choose one of the two.")
        said, remark = (str(text or "").strip() for text in (reason, note))
        record_decision(store, name, Fate(fate), who=person(), reason=said, note=remark)

    attempt(change, "The decision is recorded.")


def _withdraw(store: Store, name: str) -> None:
    attempt(lambda: _discard(store.iterations.withdraw_decision(name, who=person())), "The decision is taken back.")


def promote(store: Store, name: str) -> None:
    """Makes the iteration the baseline; a widget callback."""
    attempt(partial(store.iterations.promote, name), "This iteration is the baseline now.")


def _discard(_changed: Iteration) -> None:
    """The page reads it again."""
