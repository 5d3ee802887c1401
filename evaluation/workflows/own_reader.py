"""Labels from what people decided about single verdicts, and a team's own reader trained on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation.overrides import Override
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.reader.model import shipped_reader
from evaluation.rubric.reader.training import FEWEST_GAMES, FEWEST_LABELS, FEWEST_OF_EACH, LabelledGame, Labels, Tuning
from evaluation.rubric.reader.training import tune as tune_reader
from evaluation.score import LedgerRow, RowVerdict
from evaluation.store import Store
from evaluation.text.display import counted
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


def train_own_reader(store: Store) -> tuple[str | None, str]:
    """Trains a reader on what people decided and stores it, where games that the training left out are read better.

    The start is the reader that ships, whichever is chosen, so that old decisions do not count twice.

    Returns:
        The new reader's name, ``None`` where nothing was gained; and what happened, in words.
    """
    games = []
    for transcript, rows in _decided_rows(store):
        labels: dict[int, Labels] = {}
        indexes = {message.id: message.index for message in transcript.messages}
        for one, row in rows:
            index = indexes.get(row.message_id or "")
            if index is None or one.metric not in (STRATEGIC_DEPTH.name, COHERENCE.name):
                continue
            known, says = labels.get(index, Labels()), _ANSWERS[one.verdict]
            if one.metric == STRATEGIC_DEPTH.name:
                labels[index] = Labels(strategic=says, answers=known.answers)
            else:
                # A decision says whether a message answers, not which one: any index stands for "yes".
                labels[index] = Labels(strategic=known.strategic, answers=frozenset({-1} if says else ()))
        if labels:
            games.append(LabelledGame(transcript, "own", labels))
    reader, tunings = tune_reader(shipped_reader(), games, "own")
    words = " ".join(_words(one) for one in tunings)
    if not any(one.is_taken for one in tunings):
        return None, f"{words} Nothing was changed."
    store.readers.add(reader)
    return reader.name, words


def _words(one: Tuning) -> str:
    metric = next(name for name, question in _QUESTIONS.items() if question == one.question)
    begin = f"{DEFINITIONS[metric].label}: {counted(one.labels, 'label')}"
    if one.before is None or one.after is None:
        return (
            f"{begin}; {FEWEST_LABELS} are needed, from {FEWEST_GAMES} games, with {FEWEST_OF_EACH} of yes and of no."
        )
    shares = f"balanced accuracy on games left out {one.before:.2f} before, {one.after:.2f} after"
    return f"{begin}, {shares}, {'so it was tuned' if one.is_taken else 'so it stays as it is'}."


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
