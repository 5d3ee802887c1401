"""Labels from what people decided about single verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.overrides import Override
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.score import LedgerRow, RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript

_QUESTIONS = {
    STRATEGIC_DEPTH.name: "strategic",
    COHERENCE.name: "answers",
    MEMORY_ACCURACY.name: "reference is accurate",
    ROLE_CONSISTENCY.name: "fits the role",
}
_ANSWERS = {RowVerdict.COUNTS: True, RowVerdict.DOES_NOT_COUNT: False}


def decided_labels(store: Store) -> Iterator[dict[str, Any]]:
    """Labels from what people decided about single messages: one for each decision that stands.

    Yields:
        ``game`` (transcript id), ``message`` (index), ``speaker``, ``text``, ``question``, ``label`` (yes or no),
        ``quote`` (the words that the row is about, of a reference), ``scorer_said`` (verdict and reason before),
        ``by``, ``reason`` and ``at``; JSON-compatible. Rows that were left out have no label.
    """
    for transcript, rows in _decided_rows(store):
        indexes = {message.id: message for message in transcript.messages}
        for one, row in rows:
            message = indexes.get(row.message_id or "")
            if message is None:
                continue
            yield {
                "game": transcript.id,
                "message": message.index,
                "speaker": message.speaker,
                "text": message.text,
                "question": _QUESTIONS[one.metric],
                "label": _ANSWERS[one.verdict],
                "quote": row.evidence[0].text if one.metric == MEMORY_ACCURACY.name and row.evidence else None,
                "scorer_said": {"verdict": str(row.verdict), "reason": row.reason},
                "by": one.author,
                "reason": one.reason,
                "at": one.created_at.isoformat(),
            }


def _decided_rows(store: Store) -> Iterator[tuple[Transcript, list[tuple[Override, LedgerRow]]]]:
    """Each transcript with the decisions that stand and the row of each as it was before a person decided."""
    with store.unit():
        standing = [one for one in store.overrides.current() if one.metric in _QUESTIONS and one.verdict in _ANSWERS]
    for transcript_id in dict.fromkeys(one.transcript_id for one in standing):
        with store.unit():
            results = store.results.computed(transcript_id)
            transcript = store.transcripts.get(transcript_id)
        rows = {(name, row.id): row for name, result in results.items() for row in result.ledger}
        own = [one for one in standing if one.transcript_id == transcript_id]
        yield (
            transcript,
            [
                (one, one.added_row() if one.added_words is not None else rows[one.metric, one.row_id])
                for one in own
                if one.added_words is not None or (one.metric, one.row_id) in rows
            ],
        )
