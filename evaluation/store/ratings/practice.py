"""Ratings of practice games, stored apart from real ratings."""

from __future__ import annotations

from evaluation.errors import NotFoundError
from evaluation.rating_desk.practice import PracticeRating, practice_games
from evaluation.ratings import Rating, rater_name
from evaluation.store.engine.timestamps import from_microseconds
from evaluation.store.engine.transactions import Units


class Practice:
    """Stores and reads what raters gave the practice games."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, rating: Rating) -> bool:
        """Stores a practice rating once: false when its token was stored before.

        Args:
            rating: Checked as a real one is; its ``transcript_id`` is the id of a practice game.

        Raises:
            NotFoundError: There is no such practice game.
        """
        version = next((game.version for game in practice_games() if game.id == rating.transcript_id), None)
        if version is None:
            raise NotFoundError(f"There is no practice game {rating.transcript_id!r}.")
        values = [rating.token, rating.transcript_id, version, rating.rater, rating.score, list(rating.answers)]
        with self._units.unit(write=True, join=True) as cursor:
            return bool(cursor.execute(_INSERT, [*values, rating.comment, rating.created_at]).fetchall())

    def list(self, rater: str | None = None) -> list[PracticeRating]:
        """Every practice rating, or every one of that rater, in the order in which they were given."""
        name = None if rater is None else rater_name(rater)
        with self._units.unit() as cursor:
            rows = cursor.execute(_SELECT, {"rater": name}).fetchall()
        return [
            PracticeRating(game, version, who, score, tuple(answers), comment, from_microseconds(at))
            for game, version, who, score, answers, comment, at in rows
        ]


_INSERT = """
INSERT INTO practice_ratings (token, game, version, rater, score, answers, comment, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING token
"""

_SELECT = """
SELECT game, version, rater, score, answers, comment, epoch_us(created_at) FROM practice_ratings
WHERE $rater::text IS NULL OR rater = $rater ORDER BY practice_id
"""
