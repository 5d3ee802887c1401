"""Show a judge's decision on a ledger row: label, confidence, cited messages, prompt and raw answer."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.app_pages.transcripts.row_decisions import kept_answer, row_key
from dashboard.shared import resources
from dashboard.shared.formatting import share_text
from dashboard.shared.notices import plain
from evaluation.score import LedgerRow
from evaluation.text.display import shortened
from evaluation.transcript import Transcript

_LONGEST_PROMPT = 20_000
_LONGEST_QUOTE = 300

Go = Callable[[str, str], None]
"""Makes the conversation show a message of a transcript; a widget callback."""


def judged(row: LedgerRow, transcript: Transcript, go: Go) -> None:
    """The judge's part of a row that a judge decided; nothing for any other row."""
    said = row.details.get("judged")
    if not isinstance(said, dict):
        return
    confidence = said.get("confidence")
    words = "" if confidence is None else f", {share_text(confidence)} sure by its own account"
    plain(f"{said.get('method')} says: {str(said.get('label')).replace('_', ' ')}{words}")
    key = row_key(transcript.id, row)
    for place, citation in enumerate(said.get("citations", ())):
        _citation(transcript, citation, f"cited_{place}_{key}", go)
    if st.toggle("Show what the judge was asked and answered", key=f"asked_{key}"):
        _asked(str(said.get("key")))


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


def _asked(key: str) -> None:
    kept = resources.read(kept_answer, key)
    if kept is None:
        st.caption("The prompt and the answer are not kept in this database; the reason above is.")
        return
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
