"""Collect the rows that a person should check, and what a person needs to read to decide one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluation.errors import InputError
from evaluation.overrides import Override
from evaluation.rubric.definitions import MEMORY_ACCURACY
from evaluation.rubric.rows_in_doubt import ReviewItem, ReviewKind, most_at_stake_first
from evaluation.score import RowVerdict, row_id_of
from evaluation.store.database import Store
from evaluation.transcript import Message

_CONTEXT = 6


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """One row to be decided."""

    transcript_id: str
    item: ReviewItem


@dataclass(frozen=True, slots=True)
class RowContext:
    """The text that a person reads to decide a row.

    Attributes:
        game: The display name of the game.
        message: What the row is about; ``None`` where it is about no message.
        before: The public messages just before it, oldest first; at most six.
        role: The role of who says it; empty where the game does not tell.
    """

    game: str
    message: Message | None
    before: tuple[Message, ...] = ()
    role: str = ""


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
        games = store.results.rows_in_doubt(chosen)
    found = [QueuedRow(key, item) for key, items in games.items() for item in items if item.kind in kinds]
    return most_at_stake_first(found, lambda queued: queued.item)


def row_context(store: Store, transcript_id: str, message_id: str | None) -> RowContext:
    """The message of a row with the name of its game.

    Args:
        store: Where to read.
        transcript_id: Full id of its game.
        message_id: What it is about; ``None`` or empty for no message.

    Raises:
        NotFoundError: The transcript is not stored.
    """
    with store.unit():
        game = store.transcripts.name(transcript_id)
        transcript = store.transcripts.get(transcript_id)
    message = transcript.message(message_id) if message_id else None
    if message is None:
        return RowContext(game, None)
    role = transcript.player(message.speaker).role if message.speaker in transcript.player_names else None
    return RowContext(game, message, _before(transcript.discussion, message), role or "")


def _before(discussion: Sequence[Message], message: Message) -> tuple[Message, ...]:
    earlier = [one for one in discussion if one.index < message.index]
    return tuple(earlier[-_CONTEXT:])


def mark_reference(
    store: Store,
    transcript_id: str,
    message_id: str,
    words: str,
    verdict: RowVerdict | str,
    *,
    author: str,
    reason: str,
) -> Override:
    """Adds words of a message to memory accuracy as a reference that the rule missed, with a person's verdict.

    Args:
        store: Where the game is.
        transcript_id: Full id of the game.
        message_id: The message, of the public discussion.
        words: As they stand in the message; of several places the first.
        verdict: Whether the reference is accurate (``counts``), inaccurate, or left out.
        author: Who marks it.
        reason: Why.

    Raises:
        NotFoundError: The transcript is not stored.
        InputError: The words do not stand in a message of the discussion, or nobody or no reason is named.
    """
    with store.unit(write=True, join=True):
        transcript = store.transcripts.get(transcript_id)
        message = next((one for one in transcript.discussion if one.id == message_id), None)
        if message is None:
            raise InputError("Only messages of the public discussion hold references.", place="message")
        start = message.text.find(words) if words.strip() else -1
        if start < 0:
            raise InputError(
                "These words do not stand in the message.", place="words", remedy="Copy them from the message."
            )
        row_id = row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{start}-{start + len(words)}")
        place = (transcript_id, MEMORY_ACCURACY.name, row_id)
        return store.overrides.add(*place, verdict, author=author, reason=reason, added_words=words)
