"""Assignments of games to raters, and ratings that leads ask for again. Append-only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.rating_desk.assignments import Assignment, Pair, SendBack
from evaluation.ratings import rater_name
from evaluation.store.engine.bulk_rows import append_rows, next_numbers
from evaluation.store.engine.text_checks import require_text
from evaluation.store.engine.timestamps import from_microseconds, maybe_from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript

MAX_REASON_LENGTH = 500
"""Longest reason for asking for a rating again, in characters."""


_SendBacks = list[SendBack]


class RatingAssignments:
    """Stores who is to rate which game, and which ratings are asked for again."""

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

    def send_back(self, transcript_id: str, rater: str, reason: str, *, who: str) -> int:
        """Asks a rater to rate a game again; both ratings are kept. Returns the number of the request.

        Raises:
            InputError: The reason is missing or too long.
            NotFoundError: The rater has not rated the game.
            ConflictError: It is asked for already.
        """
        name, lead, said = rater_name(rater), rater_name(who), reason.strip()
        require_text(reason=said)
        if len(said) > MAX_REASON_LENGTH:
            raise InputError(
                f"{len(said)} characters are too many.", place="reason", remedy=f"Stay within {MAX_REASON_LENGTH}."
            )
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            held = cursor.execute(_LAST_RATING, [transcript_id, name]).fetchone()
            if held is None or held[0] is None:
                raise NotFoundError(f"{name} has not rated that game.", remedy="Assign it instead.")
            if cursor.execute(_IS_SENT_BACK, [transcript_id, name]).fetchone():
                raise ConflictError(f"{name} is asked to rate that game again already.")
            made = cursor.execute(_SEND_BACK, [transcript_id, name, said, lead, held[0]]).fetchone()
        assert made is not None
        return int(made[0])

    def send_backs(self) -> _SendBacks:
        """Every rating that was asked for again, of stored transcripts, in that order."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_SEND_BACKS).fetchall()
        return [
            SendBack(number, game, rater, reason, who, from_microseconds(at), is_done)
            for number, game, rater, reason, who, at, is_done in rows
        ]

    def asked_again(self, rater: str, transcript_id: str) -> str | None:
        """The reason why the rater is asked to rate the game again; ``None`` when nobody asks."""
        with self._units.unit() as cursor:
            found = cursor.execute(_IS_SENT_BACK, [transcript_id, rater_name(rater)]).fetchone()
        return None if found is None else str(found[0])

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

_LAST_RATING = "SELECT max(rating_id) FROM ratings WHERE transcript_id = ? AND rater = ?"

_IS_SENT_BACK = """
SELECT reason FROM open_send_backs WHERE transcript_id = ? AND rater = ? ORDER BY send_back_id DESC LIMIT 1
"""

_SEND_BACK = """
INSERT INTO rating_send_backs (transcript_id, rater, reason, who, last_rating) VALUES (?, ?, ?, ?, ?)
RETURNING send_back_id
"""

_SEND_BACKS = """
SELECT s.send_back_id, s.transcript_id, s.rater, s.reason, s.who, epoch_us(s.created_at), o.send_back_id IS NULL
FROM rating_send_backs s LEFT JOIN open_send_backs o USING (send_back_id) ORDER BY s.send_back_id
"""
