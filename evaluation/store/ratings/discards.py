"""Discards: games that a rater cannot rate. Append-only; a later row withdraws one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.rating_desk.assignments import MAX_NOTE_LENGTH, Discard, DiscardReason
from evaluation.ratings import rater_name
from evaluation.store.engine.text_checks import require_storable
from evaluation.store.engine.timestamps import from_microseconds, maybe_from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript

_Discards = list[Discard]


class Discards:
    """Takes games out of one rater's queue, with the reason, and gives them back."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, transcript_id: str, rater: str, reason: DiscardReason, note: str = "") -> bool:
        """Takes the transcript out of the rater's queue; false when it is out already, which changes nothing.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The note is too long, or missing where the reason is ``other``.
        """
        name, said = rater_name(rater), _checked_note(reason, note)
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            return bool(cursor.execute(_INSERT, [transcript_id, name, reason, said, name]).fetchall())

    def undo(self, discard_id: int, *, who: str) -> None:
        """Gives the transcript back to the rater's queue; both acts stay on record.

        Raises:
            NotFoundError: There is no such discard.
            ConflictError: It was taken back before.
            InputError: Nobody is named.
        """
        name = rater_name(who)
        with self._units.unit(write=True, join=True) as cursor:
            found = cursor.execute(_UNDOABLE, [discard_id]).fetchone()
            if found is None:
                raise NotFoundError(
                    f"There is no discard {discard_id}.", remedy="See them on the Review page, under Team."
                )
            if found[0]:
                raise ConflictError(f"Discard {discard_id} was taken back before.")
            cursor.execute(_UNDO, [name, discard_id])

    def of(self, rater: str) -> _Discards:
        """The rater's discards that still hold, the latest first."""
        return self._select("AND d.rater = ? AND u.who IS NULL", [rater_name(rater)])

    def list(self) -> _Discards:
        """Every discard of transcripts that are stored, those taken back too, the latest first."""
        return self._select("", [])

    def _select(self, condition: str, values: Sequence[object]) -> _Discards:
        with self._units.unit() as cursor:
            return [_discard(row) for row in cursor.execute(_SELECT.format(condition), list(values)).fetchall()]


def _checked_note(reason: DiscardReason, note: str) -> str:
    said = note.strip()
    if len(said) > MAX_NOTE_LENGTH:
        raise InputError(
            f"{len(said)} characters are too many.", place="note", remedy=f"Stay within {MAX_NOTE_LENGTH}."
        )
    if reason is DiscardReason.OTHER and not said:
        raise InputError("The reason is missing.", place="note", remedy="Say in a few words why it cannot be rated.")
    require_storable(note=said)
    return said


def _discard(row: tuple[Any, ...]) -> Discard:
    number, transcript_id, rater, reason, note, created_at, undone_by, undone_at = row
    made = from_microseconds(created_at)
    undone = maybe_from_microseconds(undone_at)
    return Discard(number, transcript_id, rater, DiscardReason(reason), note, made, undone_by, undone)


_INSERT = """
INSERT INTO discards (transcript_id, rater, reason, note, who)
SELECT $1, $2, $3, $4, $5
WHERE NOT EXISTS (SELECT 1 FROM current_discards WHERE transcript_id = $1 AND rater = $2)
RETURNING discard_id
"""

_UNDOABLE = """
SELECT EXISTS (SELECT 1 FROM discards u WHERE u.undoes = d.discard_id)
FROM discards d WHERE discard_id = ? AND undoes IS NULL
"""

_UNDO = """
INSERT INTO discards (transcript_id, rater, reason, note, who, undoes)
SELECT transcript_id, rater, reason, '', ?, discard_id FROM discards WHERE discard_id = ?
"""

_SELECT = """
SELECT d.discard_id, d.transcript_id, d.rater, d.reason, d.note, epoch_us(d.created_at), u.who, epoch_us(u.created_at)
FROM discards d LEFT JOIN discards u ON u.undoes = d.discard_id
WHERE d.undoes IS NULL {} ORDER BY d.discard_id DESC
"""
