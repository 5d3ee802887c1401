"""People's blind judgements of two games against each other: only ever added, and withdrawn by a further row."""

from __future__ import annotations

import uuid

from evaluation.errors import ConflictError, NotFoundError
from evaluation.rating_desk.game_pairs import GamePair, PairChoice, PairJudgement
from evaluation.ratings import rater_name
from evaluation.store.engine.timestamps import from_microseconds
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcripts import require_transcript


class PairJudgements:
    """Stores and reads judgements of pairs of games."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, rater: str, pair: GamePair, choice: PairChoice) -> str:
        """Stores a judgement; returns its id.

        Raises:
            NotFoundError: A game is not stored.
            ConflictError: This rater's judgement of the two games holds already.
        """
        name, judgement_id = rater_name(rater), uuid.uuid4().hex
        with self._units.unit(write=True, join=True) as cursor:
            for game in (pair.left, pair.right):
                require_transcript(cursor, game)
            if pair.games in self.judged_by(name):
                raise ConflictError("You have judged these two games.", remedy="Undo that judgement to give another.")
            cursor.execute(_INSERT, [judgement_id, name, str(choice)])
            for game, side in ((pair.left, PairChoice.LEFT), (pair.right, PairChoice.RIGHT)):
                cursor.execute(_INSERT_GAME, [judgement_id, game, str(side)])
        return judgement_id

    def withdraw(self, judgement_id: str, rater: str) -> None:
        """Takes back a judgement of this rater; it stays in the list as withdrawn.

        Raises:
            NotFoundError: This rater has no judgement of that id that holds.
        """
        name = rater_name(rater)
        with self._units.unit(write=True, join=True) as cursor:
            held = [one.id for one in self.list() if one.rater == name and one.withdrawn_at is None]
            if judgement_id not in held:
                raise NotFoundError("That judgement does not hold any more.", remedy="Open the page again.")
            cursor.execute("INSERT INTO pair_judgement_withdrawals (judgement_id) VALUES (?)", [judgement_id])

    def list(self) -> list[PairJudgement]:
        """Every judgement whose two games are stored, withdrawn ones included, the first given first."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_SELECT).fetchall()
        return [
            PairJudgement(
                id_,
                rater,
                GamePair(left, right),
                PairChoice(choice),
                from_microseconds(given),
                None if withdrawn is None else from_microseconds(withdrawn),
            )
            for id_, rater, left, right, choice, given, withdrawn in rows
        ]

    def judged_by(self, rater: str) -> set[frozenset[str]]:
        """The pairs of games of which a judgement of this rater holds."""
        name = rater_name(rater)
        return {one.pair.games for one in self.list() if one.rater == name and one.withdrawn_at is None}


_INSERT = "INSERT INTO pair_judgements (judgement_id, rater, choice) VALUES (?, ?, ?)"
_INSERT_GAME = "INSERT INTO judged_games (judgement_id, transcript_id, side) VALUES (?, ?, ?)"

_SELECT = """
SELECT j.judgement_id, j.rater, l.transcript_id, r.transcript_id, j.choice,
    epoch_us(j.created_at), epoch_us(w.created_at)
FROM pair_judgements j
    JOIN judged_games l ON l.judgement_id = j.judgement_id AND l.side = 'left'
    JOIN judged_games r ON r.judgement_id = j.judgement_id AND r.side = 'right'
    LEFT JOIN pair_judgement_withdrawals w ON w.judgement_id = j.judgement_id
ORDER BY j.number
"""
