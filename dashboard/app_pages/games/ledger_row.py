"""Ledger rows whole: one with its decider, reason and evidence, and all rows about one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.app_pages.games.override_form import kept_answer, mark_reference_section, override_section, row_key
from dashboard.shared import resources, state
from dashboard.shared.chat.conversation import worst_verdict
from dashboard.shared.formatting import look, share_text
from dashboard.shared.notices import plain
from dashboard.shared.queries import OpenTranscript
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.judging.fencing import KINDS, flags
from evaluation.judging.protocol import JudgeKind
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, MEMORY_ACCURACY, STRATEGIC_DEPTH
from evaluation.rubric.rows_in_doubt import UNSURE
from evaluation.score import LedgerRow, Method, RowVerdict
from evaluation.text.display import shortened
from evaluation.transcript import Message, Transcript
from evaluation.validity import decided_words

_DECIDERS = {"rule": "the rule", "reader": "the built-in reader", "judge": "a judge model", "human": "a person"}
_READER = "A small model that ships with Dramaturg; it runs on this machine and calls nobody."
_MOST_EVIDENCE = 12
_LONGEST_PROMPT = 20_000
_LONGEST_QUOTE = 300

Go = Callable[[str, str], None]
"""Makes the conversation show a message of a transcript; a widget callback."""


def ledger_row(opened: OpenTranscript, row: LedgerRow, message_id: str | None, key: str) -> None:
    """Draws a row.

    Args:
        opened: The transcript.
        row: One of its ledger rows.
        message_id: The message in whose detail it stands: evidence from other messages is marked as such.
        key: Tells the row's widgets from those of other rows on the page; of our own words and numbers.
    """
    appearance = look(row.verdict)
    with st.container(horizontal=True):
        st.badge(appearance.label, color=appearance.color)
        is_reader = row.method is Method.READER
        # It finds references to the past, and decides none of them.
        verb = "added" if is_reader and row.metric == MEMORY_ACCURACY.name else "decided"
        st.badge(f"{verb} by {_DECIDERS[str(row.method)]}", color="gray", help=_READER if is_reader else None)
    if likelihood := _likelihood(row):
        st.caption(likelihood)
    plain(row.reason)
    if rule := row.details.get("rule"):
        is_same = rule["verdict"] == row.verdict
        said = "agrees" if is_same else f"alone says {look(RowVerdict(rule['verdict'])).word}"
        plain(f"The rule {said}{'.' if rule['reason'] == row.reason else ': ' + rule['reason']}")
    if doubt := _doubt(row):
        plain(doubt)
    for original in _before(opened, row):
        plain(f"Before, {_DECIDERS[str(original.method)]} said {look(original.verdict).word}: {original.reason}")
    if (strength := row.details.get("link_strength")) is not None:
        st.caption(
            f"Its words fit what others just said better than they fit {strength:.0f} % of the other moments of this "
            "game (link strength; 50 % would be chance)."
        )
        if row.details.get("link_words"):
            plain(f"Words in common: {', '.join(row.details['link_words'])}")
    if row.evidence:
        plain(f"{_evidence_title(row)} {' · '.join(_evidence_lines(row, message_id, opened.transcript))}")
    _basis(opened.transcript, row, key)
    override_section(row, opened.transcript)
    judged(row, opened.transcript, show_message)


def _likelihood(row: LedgerRow) -> str:
    """The reader's own estimate, and what it was measured to be worth; empty where somebody else decided."""
    chance = row.details.get("chance")
    if row.method is not Method.READER or chance is None:
        return ""
    # Nothing that was learned is certain.
    percent = min(99, max(1, round(100 * chance)))
    if row.metric == MEMORY_ACCURACY.name:
        return (
            f"It adds what it takes for a reference to the past, here with a chance of {percent} %, and decides none."
        )
    measured = "" if row.metric == STRATEGIC_DEPTH.name and not _is_overruled(row) else decided_words(row.metric)
    words = f"Its own estimate: a chance of {percent} %"
    return f"{words}; {measured}." if measured else f"{words}."


def _doubt(row: LedgerRow) -> str:
    """The reader's objection to a row that it may not decide; empty where it has none, or others decided."""
    review = row.details.get("review") or {}
    if review.get("kind") != UNSURE or row.method is not Method.RULE:
        return ""
    percent = min(99, round(100 * review["likelihood"]))
    if row.metric == COHERENCE.name:
        found = f"of such messages in labelled games the rubric's rule is wrong on about {percent} %"
    else:
        found = f"the built-in reader gives the opposite a chance of {percent} %, by its own estimate"
    return f"In doubt: {found}, which is too little to decide. A person can, below or under Games, Check."


def _is_overruled(row: LedgerRow) -> bool:
    """Whether the reader decided the row against the rule."""
    rule = row.details.get("rule")
    return row.method is Method.READER and rule is not None and RowVerdict(rule["verdict"]) is not row.verdict


def _before(opened: OpenTranscript, row: LedgerRow) -> list[LedgerRow]:
    """The row as the rule, and then a judge, had it before somebody else decided; empty where nobody did."""
    result = opened.results.get(row.metric)
    return [one for one in result.replaced if one.id == row.id] if result else []


def _basis(transcript: Transcript, row: LedgerRow, key: str) -> None:
    referred = transcript.message(row.refers_to) if row.refers_to else None
    if referred is not None:
        plain(f"Rests on message {referred.index + 1}, {referred.speaker}: {shortened(referred.text, 300)}")
        st.button(
            f"Go to message {referred.index + 1}",
            key=f"go_{key}",
            on_click=show_message,
            args=(transcript.id, referred.id),
        )
    elif vote := next((one for one in transcript.votes if one.id == row.refers_to), None):
        of_round = "" if vote.round is None else f" in round {vote.round}"
        plain(f"Rests on a vote: {vote.voter} voted for {vote.target or 'nobody'}{of_round}.")
    elif row.refers_to:
        plain(f"Rests on {row.refers_to}")


def _evidence_title(row: LedgerRow) -> str:
    """A title for the evidence: words that moved the reader where it overruled the rule, else what the reason names.

    Beside a person's decision it is what was marked before.
    """
    if row.method is Method.HUMAN:
        return "Words that were marked before:"
    return "Words that weigh most:" if _is_overruled(row) else "Words that this rests on:"


def _evidence_lines(row: LedgerRow, message_id: str | None, transcript: Transcript) -> list[str]:
    own = [evidence for evidence in row.evidence if (evidence.message_id or row.message_id) == message_id]
    others = [evidence for evidence in row.evidence if evidence not in own]
    lines = [evidence.text for evidence in own]
    for evidence in others:
        message = transcript.message(evidence.message_id) if evidence.message_id else None
        lines.append(f"{evidence.text}" + (f"   (message {message.index + 1})" if message else ""))
    hidden = len(lines) - _MOST_EVIDENCE
    return lines[:_MOST_EVIDENCE] + ([f"and {hidden} more"] if hidden > 0 else [])


def show_message(transcript_id: str, message_id: str) -> None:
    """Makes the conversation show a message beside the reason that is open. A widget callback."""
    state.glance(transcript_id, message_id)
    st.session_state[state.VIEW] = state.CONVERSATION


def choose_message(transcript_id: str, message_id: str, metric: str | None = None) -> None:
    """Makes the conversation go to a message, with the reason for its verdict on ``metric``. A widget callback."""
    state.aim(transcript_id, message_id, metric)
    st.session_state[state.VIEW] = state.CONVERSATION


def judged(row: LedgerRow, transcript: Transcript, go: Go) -> None:
    """The judge's part of a row that a judge decided; nothing for any other row."""
    said = row.details.get("judged")
    if not isinstance(said, dict):
        return
    confidence = said.get("confidence")
    words = "" if confidence is None else f", {share_text(confidence)} sure by its own account"
    who = str(said.get("method")).removeprefix("judge:")
    how = " (a recorded answer)" if said.get("judge") == JudgeKind.RECORDED else ""
    plain(f"{who}{how} says: {str(said.get('label')).replace('_', ' ')}{words}")
    key = row_key(transcript.id, row)
    for place, citation in enumerate(said.get("citations", ())):
        _citation(transcript, citation, f"cited_{place}_{key}", go)
    # A recorded answer keeps none.
    kept = resources.read(kept_answer, str(said.get("key")))
    if kept is not None and st.toggle("Show what the judge was asked and answered", key=f"asked_{key}"):
        _asked(kept)


def _citation(transcript: Transcript, message_id: str, key: str, go: Go) -> None:
    message = transcript.message(message_id)
    if message is None:
        return
    st.button(
        f"Cites message {message.index + 1}",
        key=key,
        icon=":material/link:",
        on_click=go,
        args=(transcript.id, message.id),
    )
    plain(f"{message.speaker}: {shortened(message.text, _LONGEST_QUOTE)}")


def _asked(kept: KeptAnswer) -> None:
    st.caption("Instructions")
    _code(kept.prompt.system)
    st.caption("What it read")
    _code(kept.prompt.text)
    st.caption("Its answer, word for word")
    _code(kept.raw)


def _code(text: str) -> None:
    st.code(shortened_lines(text), language=None, wrap_lines=True, height=240)


def shortened_lines(text: str) -> str:
    """A long text cut at its end, with how much is left out."""
    if len(text) <= _LONGEST_PROMPT:
        return text
    return f"{text[:_LONGEST_PROMPT]}\n({len(text) - _LONGEST_PROMPT:,} more characters)"


_MOST_PLACES = 6
_LONGEST_PLACE = 120


def flag_notice(message: Message) -> None:
    """Says what about the message is suspicious, and where; nothing for an honest one."""
    raised = flags(message.text)
    if not raised:
        return
    kinds = list(dict.fromkeys(flag.kind for flag in raised))
    st.warning(
        "This message " + "; it ".join(KINDS[kind] for kind in kinds) + ". No score changes by that: "
        "judges are told to obey nothing inside a transcript.",
        icon=":material/flag:",
    )
    for flag in raised[:_MOST_PLACES]:
        plain(f"{ascii_where_hidden(shortened(message.text[flag.start : flag.end], _LONGEST_PLACE))}")


def ascii_where_hidden(text: str) -> str:
    """The text, with what cannot be seen or could be mistaken written as codes."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]


_MOST_ROWS = 6


def message_detail(opened: OpenTranscript, message_id: str, metric: str | None) -> None:
    """Why a message got its verdict on ``metric``, in full, and below it what the other metrics say, to be opened.

    Args:
        opened: The transcript.
        message_id: One of its messages.
        metric: ``None`` lists all metrics alike.
    """
    message = opened.transcript.message(message_id)
    assert message is not None
    rows = opened.concerning.get(message_id, {})
    number = message.index + 1
    st.subheader(f"{DEFINITIONS[metric].label}, message {number}" if metric else f"Message {number}", anchor=False)
    flag_notice(message)
    if metric:
        _whole(opened, metric, rows.get(metric, ()), message_id)
    others = [name for name in DEFINITIONS if name in rows and name != metric]
    if others:
        st.caption("Other verdicts on this message" if metric else "Verdicts on this message")
    elif not metric:
        st.caption("No metric has anything to say about this message.")
    for name in others:
        with st.expander(f"{look(worst_verdict(rows[name])).symbol} {DEFINITIONS[name].label}"):
            _rows(opened, name, rows[name], message_id)
    if metric in (None, MEMORY_ACCURACY.name):
        mark_reference_section(message, opened.transcript)


def _whole(opened: OpenTranscript, metric: str, rows: Sequence[LedgerRow], message_id: str) -> None:
    if not rows:
        st.caption("This metric has nothing to say about this message.")
    _rows(opened, metric, rows, message_id)
    result = opened.results.get(metric)
    if result is not None and result.remarks:
        plain("\n".join(["About the whole game:", *result.remarks]))


def _rows(opened: OpenTranscript, metric: str, rows: Sequence[LedgerRow], message_id: str) -> None:
    for place, row in enumerate(rows[:_MOST_ROWS]):
        if place:
            st.divider()
        ledger_row(opened, row, message_id, f"{metric}_{place}")
    if len(rows) > _MOST_ROWS:
        st.caption(f"{len(rows) - _MOST_ROWS} more concern this message; all stand in the ledger.")
