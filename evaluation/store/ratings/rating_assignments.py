"""Assignments of games to raters. Append-only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evaluation.rating_desk.assignments import Assignment, Pair
from evaluation.ratings import rater_name
from evaluation.store.engine.bulk_rows import append_rows, next_numbers
from evaluation.store.engine.timestamps import from_microseconds, maybe_from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript


class RatingAssignments:
    """Stores who is to rate which game."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, pairs: Sequence[Pair], *, who: str) -> int:
        """Stores assignments, all of them or none; returns how many were new.

        A pair that holds already changes nothing.

        Args:
            pairs: Transcript and rater of each.
            who: The lead who assigns them.

        Raises:
            NotFoundError: One of the transcripts is not stored.
            InputError: A name cannot be used.
        """
        lead, wanted = rater_name(who), dict.fromkeys((game, rater_name(rater)) for game, rater in pairs)
        with self._units.unit(write=True, join=True) as cursor:
            for transcript_id in {game for game, _ in wanted}:
                require_transcript(cursor, transcript_id)
            known = set(cursor.execute("SELECT transcript_id, rater FROM current_rating_assignments").fetchall())
            fresh = [pair for pair in wanted if pair not in known]
            ids = next_numbers(cursor, "rating_assignment_numbers", len(fresh))
            rows = [
                {"assignment_id": number, "transcript_id": game, "rater": rater, "who": lead}
                for number, (game, rater) in zip(ids, fresh, strict=True)
            ]
            append_rows(cursor, "rating_assignments", rows)
        return len(fresh)

    def withdraw(self, pairs: Collection[Pair], *, who: str) -> int:
        """Withdraws the assignments of these pairs; returns how many held. What was rated stays rated."""
        lead = rater_name(who)
        with self._units.unit(write=True, join=True) as cursor:
            return sum(len(cursor.execute(_WITHDRAW, [lead, *pair]).fetchall()) for pair in pairs)

    def current(self) -> list[Assignment]:
        """The assignments that hold, of stored transcripts, in the order in which they were made."""
        return [one for one in self.list() if one.withdrawn_at is None]

    def list(self) -> list[Assignment]:
        """Every assignment of stored transcripts, withdrawn ones too, in the order in which they were made."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_SELECT).fetchall()
        return [
            Assignment(number, game, rater, who, from_microseconds(at), undone_by, maybe_from_microseconds(undone_at))
            for number, game, rater, who, at, undone_by, undone_at in rows
        ]


_SELECT = """
SELECT a.assignment_id, a.transcript_id, a.rater, a.who, epoch_us(a.created_at), u.who, epoch_us(u.created_at)
FROM rating_assignments a LEFT JOIN rating_assignments u ON u.undoes = a.assignment_id
WHERE a.undoes IS NULL ORDER BY a.assignment_id
"""

_WITHDRAW = """
INSERT INTO rating_assignments (transcript_id, rater, who, undoes)
SELECT transcript_id, rater, $1, assignment_id FROM current_rating_assignments
WHERE transcript_id = $2 AND rater = $3
RETURNING assignment_id
"""
