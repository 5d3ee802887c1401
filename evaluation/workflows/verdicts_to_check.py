"""Collect the rows that a person should check, with their messages, in one unit of work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from evaluation.kept_values import KeptValues
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind, most_at_stake_first, review_items
from evaluation.store.database import Store
from evaluation.transcript import Message, Transcript

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """One row to be decided, with what a person needs to read.

    Attributes:
        message: What the row is about; ``None`` where it is about no message.
        context: The public messages just before it, oldest first; at most three.
    """

    transcript_id: str
    game_id: str
    item: ReviewItem
    message: Message | None
    context: tuple[Message, ...]


def stored_review_queue(
    store: Store, iteration: str | None = None, kinds: Collection[ReviewKind] = tuple(ReviewKind)
) -> list[QueuedRow]:
    """The rows of an iteration's games that a person should look at, those with most at stake first.

    Args:
        store: Where to read.
        iteration: Whose games; ``None`` for those of no iteration.
        kinds: Only these.
    """
    with store.unit():
        summaries = store.transcripts.summaries()
        is_in = summaries["iteration"].isna() if iteration is None else summaries["iteration"] == iteration
        chosen = [str(key) for key in summaries.loc[is_in, "transcript_id"]]
        stamps = store.results.ledger_stamps(chosen)
        games = [_rows.get(key, (stamps.get(key),), partial(_rows_of, store, key)) for key in chosen]
    found = [queued for rows in games for queued in rows if queued.item.kind in kinds]
    return most_at_stake_first(found, lambda queued: queued.item)


_rows: KeptValues[tuple[QueuedRow, ...]] = KeptValues(2_000)
"""By game: a decision changes the rows of one, and reading those of hundreds takes seconds. They hold the messages."""


def _rows_of(store: Store, transcript_id: str) -> tuple[QueuedRow, ...]:
    transcript = store.transcripts.get(transcript_id)
    return tuple(_queued(transcript, item) for item in review_items(store.results.load(transcript_id)))


def _queued(transcript: Transcript, item: ReviewItem) -> QueuedRow:
    message = transcript.message(item.row.message_id) if item.row.message_id else None
    before = _before(transcript.discussion, message) if message else ()
    return QueuedRow(transcript.id, transcript.game_id, item, message, before)


def _before(discussion: Sequence[Message], message: Message) -> tuple[Message, ...]:
    earlier = [one for one in discussion if one.index < message.index]
    return tuple(earlier[-_CONTEXT:])
