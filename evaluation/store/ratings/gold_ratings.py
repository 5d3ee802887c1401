"""Gold ratings: the known rating of a game, set by a lead. Append-only; a later row withdraws one."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.errors import NotFoundError
from evaluation.rating_desk.gold import GoldRating
from evaluation.ratings import QUESTION_COUNT, Rating, rater_name
from evaluation.store.engine.timestamps import from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript


class GoldRatings:
    """Stores and reads the known ratings of games; they count in no score."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def set(
        self,
        transcript_id: str,
        score: int,
        answers: Sequence[bool | None] = (None,) * QUESTION_COUNT,
        *,
        who: str,
    ) -> None:
        """Makes a game a gold game, or changes its known rating; the earlier one is kept as history.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The score, an answer or the name cannot be used.
        """
        checked = Rating(transcript_id, who, score, tuple(answers))
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            cursor.execute(_INSERT, [transcript_id, checked.score, list(checked.answers), checked.rater])

    def withdraw(self, transcript_id: str, *, who: str) -> None:
        """Makes it a game like others again; ratings of it stay.

        Raises:
            NotFoundError: It is not a gold game.
        """
        name = rater_name(who)
        with self._units.unit(write=True, join=True) as cursor:
            if not cursor.execute(_WITHDRAW, [name, transcript_id]).fetchall():
                raise NotFoundError("It is not a gold game.", remedy="See them: dramaturg rate gold.")

    def list(self) -> list[GoldRating]:
        """The gold ratings that hold, of stored transcripts, one a game, in the order in which they were set."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_SELECT).fetchall()
        return [
            GoldRating(number, transcript_id, score, tuple(answers), who, from_microseconds(at))
            for number, transcript_id, score, answers, who, at in rows
        ]


_INSERT = "INSERT INTO gold_ratings (transcript_id, score, answers, who) VALUES (?, ?, ?, ?)"

# Every gold rating of the game that holds, so that no earlier one comes back.
_WITHDRAW = """
INSERT INTO gold_ratings (transcript_id, who, undoes)
SELECT transcript_id, $1, gold_id FROM gold_ratings g
WHERE transcript_id = $2 AND undoes IS NULL AND NOT EXISTS (SELECT 1 FROM gold_ratings u WHERE u.undoes = g.gold_id)
RETURNING gold_id
"""

_SELECT = "SELECT gold_id, transcript_id, score, answers, who, epoch_us(created_at) FROM current_gold ORDER BY gold_id"
