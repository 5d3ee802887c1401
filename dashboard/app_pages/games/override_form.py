"""Override a ledger row: the form with verdict and reason, the history of the row, and undo."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from dashboard.shared import resources
from dashboard.shared.formatting import look, score_text
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import LONGEST_TEXT, plain, require_length, words_of
from evaluation.access import Action
from evaluation.errors import DramaturgError
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.overrides import Override
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, MEMORY_ACCURACY
from evaluation.score import LedgerRow, RowVerdict
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.transcript import Message, Transcript
from evaluation.workflows.judging import mark_reference

_DONE = "override_done"
_FAULT = "override_fault"


def override_section(row: LedgerRow, transcript: Transcript) -> None:
    """The form to override one row, below the row's earlier overrides. Raters revise their own ratings instead."""
    metric = row.metric
    if metric not in DEFINITIONS or metric == ENGAGEMENT.name:
        return
    decisions = resources.read(overrides_of, transcript.id)
    history = decisions.of(row)
    key = row_key(transcript.id, row)
    _tell_outcome(key)
    version = f"{key}_{len(history)}_{len(decisions.standing)}"
    for made in history:
        _past(made, decisions, key)
    if st.toggle("Override this verdict", key=f"override_{version}"):
        _form(row, transcript, version)


def _tell_outcome(key: str) -> None:
    """Says what came of the last change of this row or message; told once."""
    if said := st.session_state.pop(f"{_DONE}_{key}", None):
        st.success(said)
    if fault := st.session_state.pop(f"{_FAULT}_{key}", None):
        st.error("That could not be saved.")
        plain(fault)


def mark_reference_section(message: Message, transcript: Transcript) -> None:
    """The form to add a reference that the rule missed in a message, below its verdicts on memory accuracy."""
    if message not in transcript.discussion:
        return
    key = f"{transcript.id}_{message.index}"
    _tell_outcome(key)
    if not st.toggle("Mark a reference that the rule missed", key=f"mark_{key}"):
        return
    with st.form(f"mark_form_{key}", border=False, clear_on_submit=False):
        words = st.text_input("Words of the message, as they stand in it", key=f"mark_words_{key}")
        verdict = _verdict("Is what they say true?", f"mark_verdict_{key}")
        reason = st.text_input("Why", key=f"mark_reason_{key}").strip()
        author = identity.decider_name() or _author(f"mark_{key}")
        is_sent = st.form_submit_button("Add the reference", key=f"mark_send_{key}")
    if is_sent:
        if verdict is None or not (words and reason and author):
            st.warning("Give the words, a verdict, a reason and your name. Nothing is saved yet.")
            return
        _change(
            key,
            "Added.",
            transcript.id,
            MEMORY_ACCURACY.name,
            author,
            lambda store, who: mark_reference(
                store, transcript.id, message.id, words, verdict, author=who, reason=_checked(reason)
            ),
        )


def orphaned_overrides(transcript: Transcript) -> None:
    """Decisions whose row a newer version of a metric no longer has: they change nothing, but are not lost."""
    orphans = resources.read(overrides_of, transcript.id).orphans
    if not orphans:
        return
    with st.expander(f"{counted(len(orphans), 'decision')} on rows that are gone", icon=":material/help:"):
        st.caption("A newer version of the metric has no such row. The decision applies again if the row comes back.")
        for made in orphans:
            plain(f"{made.row_id}\n{_words(made)}")


def _past(made: Override, decisions: RowOverrides, key: str) -> None:
    plain(_words(made))
    if made.id in decisions.standing:
        author = identity.decider_name() or _author(f"{key}_{made.id}")
        asks = None if author else "Enter your name first."
        if st.button("Undo", icon=":material/undo:", key=f"undo_{made.id}_{key}", disabled=not author, help=asks):
            _change(
                key,
                "Taken back.",
                made.transcript_id,
                made.metric,
                author,
                lambda store, who: store.overrides.undo(made.id, who),
            )


def _author(key: str) -> str:
    """The person's name, asked once a session."""
    given = st.text_input("Your name", key=f"author_{key}", help="Kept with what you decide.")
    return given.strip()


def _verdict(question: str, key: str) -> RowVerdict | None:
    return st.radio(
        question, list(RowVerdict), index=None, format_func=lambda one: look(one).label, horizontal=True, key=key
    )


def _words(made: Override) -> str:
    words = f"{made.author}, {local_time(made.created_at)}: {look(made.verdict).word}. {made.reason}"
    if made.undone_by is not None and made.undone_at is not None:
        words += f"\nTaken back by {made.undone_by}, {local_time(made.undone_at)}."
    return words


def _change(
    key: str, said: str, transcript_id: str, metric: str, author: str, make: Callable[[Store, str], object]
) -> None:
    """Makes a change under the person's name, and draws the page again with what came of it and what it moved."""
    store = resources.store()
    try:
        identity.require(Action.OVERRIDE)
        who, before = identity.decide_as(author), _score(store, transcript_id, metric)
        make(store, who)
    except DramaturgError as error:
        st.session_state[f"{_FAULT}_{key}"] = words_of(error)
    else:
        st.session_state[f"{_DONE}_{key}"] = f"{said} {_moved(store, transcript_id, metric, before)}"
    # The scores above the conversation stand outside of its fragment.
    st.rerun()


def _checked(reason: str) -> str:
    return require_length(reason, LONGEST_TEXT, "Why")


def _score(store: Store, transcript_id: str, metric: str) -> float | None:
    return store.results.load(transcript_id)[metric].score


def _moved(store: Store, transcript_id: str, metric: str, before: float | None) -> str:
    """The score before and after: "Conversation coherence 85.7 → 88.1 %."; for one that stayed, that it did."""
    definition = DEFINITIONS[metric]
    now = score_text(_score(store, transcript_id, metric), definition.scale)
    then = score_text(before, definition.scale)
    if then == now:
        return f"{definition.label} stays at {now}."
    return f"{definition.label} {then.removesuffix('%').strip()} → {now}."


def _form(row: LedgerRow, transcript: Transcript, key: str) -> None:
    with st.form(f"form_{key}", border=False):
        verdict = _verdict("This should be", f"verdict_{key}")
        reason = st.text_area("Why", height=80, key=f"reason_{key}", placeholder="What a colleague should know")
        author = identity.decider_name() or _author(key)
        is_sent = st.form_submit_button("Override", type="primary", key=f"send_{key}")
    if is_sent:
        _save(row, transcript, verdict, author, reason.strip())


def _save(row: LedgerRow, transcript: Transcript, verdict: RowVerdict | None, author: str, reason: str) -> None:
    if verdict is None or not reason or not author:
        missing = [("a verdict", verdict), ("a reason", reason), ("your name", author)]
        st.warning(f"Give {' and '.join(what for what, given in missing if not given)}. Nothing is saved yet.")
        return
    _change(
        row_key(transcript.id, row),
        "Saved.",
        transcript.id,
        row.metric,
        author,
        lambda store, who: store.overrides.add(
            transcript.id, row.metric, row.id, verdict, author=who, reason=_checked(reason)
        ),
    )


@dataclass(frozen=True, slots=True)
class RowOverrides:
    """A transcript's overrides.

    Attributes:
        made: All of them, in the order in which they were made.
        standing: The numbers of those that stand.
        orphans: Those that stand although their row is gone from the ledger.
    """

    made: tuple[Override, ...]
    standing: frozenset[int]
    orphans: tuple[Override, ...]

    def of(self, row: LedgerRow) -> list[Override]:
        """The overrides of one row, the latest first."""
        return [one for one in reversed(self.made) if (one.metric, one.row_id) == (row.metric, row.id)]


def overrides_of(store: Store, transcript_id: str) -> RowOverrides:
    """All overrides of the transcript's rows."""
    with store.unit():
        return RowOverrides(
            tuple(store.overrides.list(transcript_id)),
            frozenset(one.id for one in store.overrides.current(transcript_id)),
            tuple(store.overrides.orphans(transcript_id)),
        )


def kept_answer(store: Store, key: str) -> KeptAnswer | None:
    """The prompt and the raw answer behind a judgement; ``None`` when they are not kept."""
    return store.judgements.lookup([key]).get(key)


def row_key(transcript_id: str, row: LedgerRow) -> str:
    """A name for a row's widgets that holds none of its text."""
    return hashlib.blake2b(f"{transcript_id}\n{row.id}".encode(), digest_size=8).hexdigest()
