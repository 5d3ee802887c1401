"""Leads' decisions on the engagement score of games whose raters differ. Append-only; a later row withdraws one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.ratings import MAX_COMMENT_LENGTH, EngagementDecision, checked_score, rater_name
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.store.engine.text_checks import require_text
from evaluation.store.engine.timestamps import from_microseconds, maybe_from_microseconds
from evaluation.store.games.transcripts import require_transcript

if TYPE_CHECKING:
    from evaluation.store.database import Store

_FEWEST_SCORES = 2


class EngagementDecisions:
    """Stores and reads the scores that count in place of ratings."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, transcript_id: str, score: float, *, who: str, reason: str) -> int:
        """Decides the score of a game whose raters gave different ones; returns the decision's number.

        The latest decision of a game that was not undone counts.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The score is not on the scale, or nobody or no reason is named.
            ConflictError: The raters do not differ, or fewer than two have rated it.
        """
        name, given, said = rater_name(who), checked_score(score), reason.strip()
        require_text(reason=said)
        if len(said) > MAX_COMMENT_LENGTH:
            raise InputError(
                f"{len(said)} characters are too many.", place="reason", remedy=f"Stay within {MAX_COMMENT_LENGTH}."
            )
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            if len(cursor.execute(_SCORES, [transcript_id]).fetchall()) < _FEWEST_SCORES:
                raise ConflictError(
                    "Nothing is disputed: no two raters gave that game different scores.",
                    remedy="Have somebody else rate it, or send a rating back.",
                )
            made = cursor.execute(_INSERT, [transcript_id, given, name, said]).fetchone()
            self._store.results.rewrite([transcript_id], [ENGAGEMENT.name])
        assert made is not None
        return int(made[0])

    def undo(self, decision_id: int, *, who: str) -> None:
        """Takes a decision back; an earlier one of the game counts again, or else the ratings. Both stay on record.

        Raises:
            NotFoundError: There is no such decision.
            ConflictError: It was undone before.
            InputError: Nobody is named.
        """
        name = rater_name(who)
        with self._store.unit(write=True, join=True) as cursor:
            found = cursor.execute(_UNDOABLE, [decision_id]).fetchone()
            if found is None:
                raise NotFoundError(
                    f"There is no decision {decision_id}.", remedy="See them on the Review page, under Team."
                )
            transcript_id, is_undone = found
            if is_undone:
                raise ConflictError(f"Decision {decision_id} was undone before.")
            cursor.execute(_UNDO, [name, decision_id])
            self._store.results.rewrite([transcript_id], [ENGAGEMENT.name])

    def current(self, transcript_id: str | None = None) -> dict[str, EngagementDecision]:
        """The decision that counts of each stored transcript that has one, or of one transcript."""
        return {one.transcript_id: one for one in self.list(transcript_id) if one.undone_at is None}

    def list(self, transcript_id: str | None = None) -> list[EngagementDecision]:
        """Every decision on stored transcripts, or on one, undone ones too, in the order in which they were made."""
        with self._store.unit() as cursor:
            rows = cursor.execute(_SELECT, {"transcript": transcript_id}).fetchall()
        return [
            EngagementDecision(
                number, game, score, who, reason, from_microseconds(at), undone_by, maybe_from_microseconds(undone_at)
            )
            for number, game, score, who, reason, at, undone_by, undone_at in rows
        ]


_SCORES = "SELECT DISTINCT score FROM current_ratings WHERE transcript_id = ?"

_INSERT = """
INSERT INTO engagement_decisions (transcript_id, score, who, reason) VALUES (?, ?, ?, ?) RETURNING decision_id
"""

_UNDOABLE = """
SELECT transcript_id, EXISTS (SELECT 1 FROM engagement_decisions u WHERE u.undoes = d.decision_id)
FROM engagement_decisions d WHERE decision_id = ? AND undoes IS NULL
"""

_UNDO = """
INSERT INTO engagement_decisions (transcript_id, who, reason, undoes)
SELECT transcript_id, ?, '', decision_id FROM engagement_decisions WHERE decision_id = ?
"""

_SELECT = """
SELECT d.decision_id, d.transcript_id, d.score, d.who, d.reason, epoch_us(d.created_at), u.who, epoch_us(u.created_at)
FROM engagement_decisions d LEFT JOIN engagement_decisions u ON u.undoes = d.decision_id
WHERE d.undoes IS NULL AND ($transcript::text IS NULL OR d.transcript_id = $transcript) ORDER BY d.decision_id
"""
