"""Answers to the style check: one per rater and player, since the solution is shown afterwards."""

from __future__ import annotations

from evaluation.rating_desk.style_check import StyleAnswer
from evaluation.ratings import rater_name
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript


class StyleAnswers:
    """Stores and reads what raters chose, with what they had to choose from."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, answer: StyleAnswer) -> bool:
        """Stores an answer; false when the rater answered for that player before, which changes nothing.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        values = [answer.transcript_id, rater_name(answer.rater), answer.player, answer.kind, list(answer.candidates)]
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, answer.transcript_id)
            added = cursor.execute(_INSERT, [*values, list(answer.message_ids), answer.truth, answer.chosen])
            return bool(added.fetchall())

    def list(self, rater: str | None = None) -> list[StyleAnswer]:
        """Every answer, or every one of that rater, in the order in which they were given."""
        name = None if rater is None else rater_name(rater)
        with self._units.unit() as cursor:
            rows = cursor.execute(_SELECT, {"rater": name}).fetchall()
        return [
            StyleAnswer(transcript_id, who, player, kind, tuple(candidates), tuple(message_ids), truth, chosen)
            for transcript_id, who, player, kind, candidates, message_ids, truth, chosen in rows
        ]


_INSERT = """
INSERT INTO style_answers (transcript_id, rater, player, kind, candidates, message_ids, truth, chosen)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING player
"""

_SELECT = """
SELECT transcript_id, rater, player, kind, candidates, message_ids, truth, chosen FROM style_answers
WHERE $rater::text IS NULL OR rater = $rater ORDER BY rowid
"""
