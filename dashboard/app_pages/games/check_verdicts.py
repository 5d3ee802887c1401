"""Verdicts to check: one message at a time, its words marked, decided with one key and taken back with another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.changes import attempt
from dashboard.shared.chat.conversation import utf16_span
from dashboard.shared.drawing import define_component
from dashboard.shared.formatting import look, score_text
from dashboard.shared.identity import identity
from dashboard.shared.notices import empty_state, plain
from dashboard.shared.page_links import transcript_link
from evaluation.access import Action
from evaluation.errors import ConflictError, DramaturgError
from evaluation.overrides import Override
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind
from evaluation.score import PERCENT, LedgerRow, Method, RowVerdict
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.transcript import Message
from evaluation.workflows.judging import QueuedRow, RowContext, row_context, stored_review_queue

NO_ITERATION = "Games of no iteration"
_SKIPPED = "queue_skipped"
_ACTS = "queue_acts"
_AGAIN = "queue_again"
_TAKEN_BACK = "queue_taken_back"
_KINDS = "queue_kinds"
_AUTHOR = "queue_author"
_LONGEST = 1_200

_QUESTIONS = {
    MEMORY_ACCURACY.name: "Is what the marked words say true?",
    STRATEGIC_DEPTH.name: "Is there a reason or a plan in this message?",
    ROLE_CONSISTENCY.name: "Does this message fit the speaker's role?",
    COHERENCE.name: "Does this message answer something that was said shortly before?",
}
_CHOICES = (
    (RowVerdict.COUNTS, "Yes", "1"),
    (RowVerdict.DOES_NOT_COUNT, "No", "2"),
    (RowVerdict.EXCLUDED, "Leave out", "3"),
)
_HELP = {
    RowVerdict.EXCLUDED: "It then counts neither for nor against the score.",
}
_marked_message = define_component("dramaturg_marked_message", Path(__file__).with_name("marked_message"))


@dataclass(frozen=True, slots=True)
class _Act:
    """One thing that this session did with a row.

    Attributes:
        row: The row, as ``_key`` names it.
        words: What was done, with the name of the game, which is untrusted text.
        is_skip: Whether nothing was decided.
        of: The iteration that was chosen on the page.
        kinds: The kinds of rows that were chosen on the page.
    """

    row: tuple[str, str, str]
    words: str
    is_skip: bool
    of: str | None
    kinds: list[ReviewKind]


def review_queue(store: Store, iterations: list[str]) -> None:
    """The row with most at stake that this session has not skipped; what narrows the choice down is in the head."""
    with state.head():
        iteration, kinds = _choices(iterations)
    queue = resources.share(stored_review_queue, iteration, tuple(kinds))
    skipped = st.session_state.setdefault(_SKIPPED, set())
    thresholds = resources.read(store.settings.thresholds)
    # Those that could change whether a metric passes come first: without them one can stop.
    waiting = sorted(
        (one for one in queue if _key(one) not in skipped), key=lambda one: not one.item.decides(thresholds)
    )
    if said := st.session_state.get(_TAKEN_BACK):
        plain(said)
    if waiting:
        again = st.session_state.get(_AGAIN)
        shown = next((one for one in waiting if _key(one) == again), waiting[0])
        _row(store, shown, waiting_words(waiting, thresholds))
        return
    if queue:
        empty_state("Nothing else is left", f"You skipped {len(queue)}.")
        st.button("Go through the skipped ones", key="queue_unskip", on_click=_unskip)
    else:
        empty_state("Nothing to check here", "No verdict of rules or reader is in doubt.")
    _undo_button(store)


def _choices(iterations: list[str]) -> tuple[str | None, list[ReviewKind]]:
    names = [*reversed(iterations), NO_ITERATION]
    name = st.selectbox(
        "Games of", names, key=state.CHECKED_GAMES, bind="query-params", filter_mode="contains", width=220
    )
    with st.popover("What to check", icon=":material/filter_list:"):
        kinds = st.pills(
            "Only these",
            list(ReviewKind),
            selection_mode="multi",
            format_func=lambda kind: str(kind).capitalize(),
            key=_KINDS,
            wrap=True,
        )
    return (None if name == NO_ITERATION else name), list(kinds or ReviewKind)


def _ask_for_name() -> None:
    """Asks who decides, once a session, as for any override, beside the answers that wait for it."""
    st.text_input(
        "Your name",
        key=_AUTHOR,
        help="Your answer replaces the verdict, under this name; Undo takes it back.",
        placeholder="Who decides?",
        width=230,
        on_change=_take_author,
    )


def _take_author() -> None:
    attempt(partial(identity.take_name, _AUTHOR), "You decide under this name now.", Action.OVERRIDE)


def waiting_words(waiting: Sequence[QueuedRow], thresholds: Mapping[str, float]) -> str:
    """Number of rows that wait, and of those that could decide whether a metric passes: the others can be left."""
    count = sum(one.item.decides(thresholds) for one in waiting)
    told = f"these first: {count:,} could decide whether a metric passes" if count else "the most doubtful first"
    return f"{counted(len(waiting), 'verdict')} to check, {told}"


def _row(store: Store, queued: QueuedRow, waiting: str) -> None:
    item = queued.item
    context = resources.read(row_context, *_key(queued))
    st.subheader(_QUESTIONS[item.metric], anchor=False)
    kind = f"{DEFINITIONS[item.metric].label}, {item.kind}"
    st.caption(f"{kind} \u00b7 {waiting}")
    plain(shortened(context.game, 80))
    if context.message is not None:
        role = context.role if item.metric == ROLE_CONSISTENCY.name else ""
        before = [{"speaker": one.speaker, "text": shortened(one.text, _LONGEST)} for one in context.before]
        shown = marked_message(context.message, context.row, role)
        _marked_message(key="queue_message", data={**shown, "before": before})
    _context(queued, context)
    with st.container(key="queue_actions"):
        _buttons(store, queued, context.game)


def marked_message(message: Message, row: LedgerRow, role: str = "") -> Mapping[str, Any]:
    """A message as marked_message.js draws it; spans are those of the row's evidence in it, in UTF-16 units."""
    spans = sorted(
        {
            utf16_span(message.text, one.start, one.end)
            for one in row.evidence
            if (one.message_id or row.message_id) == message.id
        }
    )
    return {"speaker": message.speaker, "role": role, "text": message.text, "spans": spans}


def _context(queued: QueuedRow, context: RowContext) -> None:
    row = context.row
    plain(f"{'The reader' if row.method is Method.READER else 'The rule'}: {row.reason}")
    for evidence in row.evidence[:3]:
        if evidence.message_id not in (None, row.message_id):
            plain(f"“{evidence.text}”")
    if context.message is not None:
        place = {"transcript": queued.transcript_id, "message": context.message.id, "metric": queued.item.metric}
        transcript_link("Open the message", **place)


def _buttons(store: Store, queued: QueuedRow, game: str) -> None:
    name = identity.decider_name()
    is_named = bool(name)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not is_named:
            _ask_for_name()
        for verdict, label, key in _CHOICES:
            st.button(
                label,
                key=f"queue_{verdict}",
                shortcut=key,
                disabled=not is_named,
                on_click=_decide,
                args=(store, queued, game, verdict),
                help=_HELP.get(verdict) if is_named else "Enter your name first: your answer stands under it.",
            )
        st.button(
            "Skip",
            key="queue_skip",
            shortcut="s",
            on_click=_skip,
            args=(queued, game),
            help="Nothing is decided; it waits until you have seen the others.",
        )
        _undo_button(store)
    asked = f"You decide as {shortened(name, 60)}. " if is_named else "Enter your name to answer. "
    plain(f"{asked}{effect_words(queued.item)}")
    if acts := st.session_state.get(_ACTS):
        plain(f"Your last answer: {acts[-1].words}")


def effect_words(item: ReviewItem) -> str:
    """The verdict so far, and the effect of each answer: "Now: not counted, score 40.0 %. Yes: +10.0 points. ..." """
    now = "no score yet" if item.before is None else f"score {score_text(item.before, PERCENT)}"
    now = f"Now: {look(item.verdict).word}, {now}"
    told = [(label, item.effect(verdict)) for verdict, label, _ in _CHOICES]
    effects = [f"{label}: {effect}" for label, effect in told if effect[1:] != "0.0 points"]
    return f"{now}. {'. '.join(effects) or 'No answer alone moves it'}.".replace("-", "\u2212")


def _decide(store: Store, queued: QueuedRow, game: str, verdict: RowVerdict) -> None:
    item = queued.item
    label = next(label for one, label, _ in _CHOICES if one is verdict)
    acts = st.session_state.get(_ACTS)
    if acts and acts[-1].row == _key(queued) and not acts[-1].is_skip:
        # A key that was pressed twice: a second decision would stay when Undo takes back the first.
        return

    def change() -> None:
        for held in _decisions(store, _key(queued)):
            raise ConflictError(
                f"{held.author} answered this in the meantime.", remedy="Change it in the game's ledger."
            )
        # First, as the next press may stop this run once the decision is stored.
        _remember(queued, game, f"{label.lower()} ({item.effect(verdict)})".replace("-", "\u2212"), is_skip=False)
        try:
            store.overrides.add(
                queued.transcript_id,
                item.metric,
                item.row_id,
                verdict,
                author=identity.decider_name(),
                reason=f"Answered {label.lower()} under Games, Check ({item.kind}).",
            )
        except DramaturgError:
            st.session_state[_ACTS].pop()
            raise

    attempt(change, "Decided. The score is computed again.", Action.OVERRIDE)


def _skip(queued: QueuedRow, game: str) -> None:
    st.session_state.setdefault(_SKIPPED, set()).add(_key(queued))
    _remember(queued, game, "skipped", is_skip=True)


def _unskip() -> None:
    st.session_state[_SKIPPED].clear()
    acts = st.session_state.get(_ACTS, [])
    st.session_state[_ACTS] = [one for one in acts if not one.is_skip]


def _remember(queued: QueuedRow, game: str, done: str, *, is_skip: bool) -> None:
    words = f"{shortened(game, 80)}, {DEFINITIONS[queued.item.metric].label}, {done}"
    act = _Act(
        _key(queued),
        words,
        is_skip,
        st.session_state.get(state.CHECKED_GAMES),
        list(st.session_state.get(_KINDS) or ()),
    )
    st.session_state.setdefault(_ACTS, []).append(act)
    for name in (_AGAIN, _TAKEN_BACK):
        st.session_state.pop(name, None)


def _undo_button(store: Store) -> None:
    if st.session_state.get(_ACTS):
        st.button(
            "Undo",
            key="queue_undo",
            icon=":material/undo:",
            shortcut="u",
            on_click=_undo,
            args=(store,),
            help="Takes back what you did last, a skip too.",
        )


def _undo(store: Store) -> None:
    """Takes back the last act of this session, and shows its row again."""
    acts = st.session_state.get(_ACTS)
    if not acts:
        return
    # Also a decision that somebody else has taken back leaves the list, so that those before it can be reached.
    last = acts.pop()
    if last.is_skip:
        st.session_state.get(_SKIPPED, set()).discard(last.row)
    elif not attempt(partial(_take_back, store, last.row), "Taken back.", Action.OVERRIDE):
        return
    st.session_state[_AGAIN], st.session_state[_TAKEN_BACK] = last.row, f"Taken back: {last.words}"
    st.session_state[state.CHECKED_GAMES], st.session_state[_KINDS] = last.of, last.kinds


def _take_back(store: Store, row: tuple[str, str, str]) -> None:
    """Takes back this person's decisions on a row; none is left where somebody else has done so."""
    author = identity.decider_name()
    for one in _decisions(store, row):
        if one.author == author:
            store.overrides.undo(one.id, author)


def _decisions(store: Store, row: tuple[str, str, str]) -> list[Override]:
    return [one for one in store.overrides.current() if (one.transcript_id, one.metric, one.row_id) == row]


def _key(queued: QueuedRow) -> tuple[str, str, str]:
    return queued.transcript_id, queued.item.metric, queued.item.row_id
