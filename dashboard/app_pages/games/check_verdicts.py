"""The review queue: one row at a time, decided with one key, with the effect of each decision."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.changes.actions import attempt
from dashboard.shared.example_row import transcript_link
from dashboard.shared.formatting import signed_cell
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.rows_in_doubt import ReviewKind
from evaluation.score import Method, RowVerdict
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.workflows.verdicts_to_check import QueuedRow, row_context, stored_review_queue

NO_ITERATION = "Games of no iteration"
_SKIPPED = "queue_skipped"
_MADE = "queue_made"
_AUTHOR = "queue_author"
_LONGEST_NAME = 200
_LONGEST = 1_200

_QUESTIONS = {
    ReviewKind.UNVERIFIED: "Did it happen as the message says?",
    ReviewKind.BARE_KEYWORD: "Does the message show strategic thinking, though it says little more than its keyword?",
    ReviewKind.NO_KEYWORD: "Does the message show strategic thinking, though it holds no keyword?",
    ReviewKind.UNCODED: "Does what the message does fit the speaker's role? Leave it out where it does nothing.",
    ReviewKind.WEAK_LINK: "Does the message answer something recent, though its words have little in common with it?",
    ReviewKind.STRONG_LINK: "Does the message answer something recent, as its words suggest?",
    ReviewKind.UNSURE: "The reader is unsure. What do you say?",
}


def review_queue(store: Store, iterations: list[str]) -> None:
    """Choices, then the row with most at stake that this session has not skipped."""
    iteration, kinds = _choices(iterations)
    queue = resources.share(stored_review_queue, iteration, tuple(kinds))
    skipped = st.session_state.setdefault(_SKIPPED, set())
    waiting = [one for one in queue if _key(one) not in skipped]
    st.caption(f"{counted(len(queue), 'row')} to look at, those that could move a score most first.")
    _ask_for_name()
    _undo_button(store)
    if waiting:
        _row(store, waiting[0])
    elif queue:
        st.success(f"Nothing else is left: {len(queue)} skipped.")
        st.button("Go through the skipped ones", key="queue_unskip", on_click=skipped.clear)
    else:
        st.success("Nothing to look at: no row is in doubt here.")


def _ask_for_name() -> None:
    """Asks who decides, once a session, as for any override."""
    if not identity.decider_name():
        st.text_input(
            "Your name",
            max_chars=_LONGEST_NAME,
            key=_AUTHOR,
            help="Kept with what you decide.",
            placeholder="Who decides? Then the keys work.",
            on_change=lambda: identity.keep_decider(st.session_state[_AUTHOR].strip()),
        )


def _choices(iterations: list[str]) -> tuple[str | None, list[ReviewKind]]:
    names = [*reversed(iterations), NO_ITERATION]
    name = st.selectbox("Games of", names, key="queue_of", bind="query-params", filter_mode="contains")
    kinds = st.pills(
        "What to look at",
        list(ReviewKind),
        selection_mode="multi",
        format_func=lambda kind: str(kind).capitalize(),
        key="queue_kinds",
        wrap=True,
    )
    return (None if name == NO_ITERATION else name), list(kinds or ReviewKind)


def _row(store: Store, queued: QueuedRow) -> None:
    item = queued.item
    context = resources.read(row_context, queued.transcript_id, item.row.message_id)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(DEFINITIONS[item.metric].label, color="gray")
            st.badge(str(item.kind), color="orange")
        plain(shortened(context.game, 80))
        if context.before:
            st.caption("Just before it")
        for message in context.before:
            plain(f"{message.speaker}: {shortened(message.text, _LONGEST)}")
        if context.message is not None:
            st.markdown("**The message**")
            plain(f"{context.message.speaker}: {shortened(context.message.text, _LONGEST)}")
        for evidence in item.row.evidence[:3]:
            plain(f"“{evidence.text}”")
        plain(f"{'The reader' if item.row.method is Method.READER else 'The rule'}: {item.row.reason}")
        st.markdown(f"**{_QUESTIONS[item.kind]}**")
        _buttons(store, queued)
        if context.message is not None:
            place = {"transcript": queued.transcript_id, "message": context.message.id, "metric": item.metric}
            transcript_link("Open the message", **place)


def _buttons(store: Store, queued: QueuedRow) -> None:
    item = queued.item
    choices = (
        (RowVerdict.COUNTS, "Yes, it counts", "y"),
        (RowVerdict.DOES_NOT_COUNT, "No, it does not", "n"),
        (RowVerdict.EXCLUDED, "Leave it out", "x"),
    )
    with st.container(horizontal=True):
        for verdict, label, key in choices:
            st.button(
                f"{label} ({signed_cell(item.effect(verdict))})",
                key=f"queue_{verdict}",
                shortcut=key,
                disabled=not identity.decider_name(),
                on_click=_decide,
                args=(store, queued, verdict),
            )
        st.button("Skip", key="queue_skip", shortcut="s", type="tertiary", on_click=_skip, args=(queued,))


def _decide(store: Store, queued: QueuedRow, verdict: RowVerdict) -> None:
    item = queued.item

    def change() -> None:
        made = store.overrides.add(
            queued.transcript_id,
            item.metric,
            item.row.id,
            verdict,
            author=identity.decider_name(),
            reason=f"Looked at in the review queue ({item.kind}).",
        )
        st.session_state.setdefault(_MADE, []).append(made.id)

    attempt(change, "Decided. The score is computed again.", Action.OVERRIDE)


def _skip(queued: QueuedRow) -> None:
    st.session_state.setdefault(_SKIPPED, set()).add(_key(queued))


def _undo_button(store: Store) -> None:
    if st.session_state.get(_MADE):
        st.button(
            "Undo the last decision",
            key="queue_undo",
            icon=":material/undo:",
            shortcut="u",
            on_click=_undo,
            args=(store,),
        )


def _undo(store: Store) -> None:
    def change() -> None:
        made = st.session_state.get(_MADE)
        if not made:
            raise InputError(
                "There is no decision to take back.", remedy="Overridden rows are listed beside their message."
            )
        # Also one that somebody else has taken back leaves the list, so that those before it can be reached.
        store.overrides.undo(made.pop(), identity.decider_name())

    attempt(change, "Taken back.", Action.OVERRIDE)


def _key(queued: QueuedRow) -> tuple[str, str, str]:
    return queued.transcript_id, queued.item.metric, queued.item.row.id
