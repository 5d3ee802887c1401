"""Games of a job that are not scored yet, stored so that the job can continue after its server has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.store.engine.bulk_rows import Columns, append
from evaluation.store.engine.transactions import Units
from evaluation.store.games.transcript_rows import pack, unpack
from evaluation.transcript import Transcript

Outcome = Literal["new", "known", "incomplete"]
"""What became of a game: stored; stored before and left alone; or stored without one of its metrics."""


@dataclass(frozen=True, slots=True)
class WaitingGame:
    """One game that waits.

    Attributes:
        source_name: Its file as the person knows it.
        iteration: Where it should go; ``None`` for no iteration.
    """

    transcript: Transcript
    source_name: str
    iteration: str | None


class ImportQueue:
    """Keeps the games of jobs until they are scored. A game leaves it when its outcome is recorded."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def put(self, job_id: str, games: Sequence[tuple[Transcript, str]], iteration: str | None) -> None:
        """Keeps the games of a job, with their source names and where they should go: all of them or none."""
        columns: Columns = {
            "job_id": [job_id] * len(games),
            "position": list(range(len(games))),
            "source_name": [well_formed(source_name) for _, source_name in games],
            "iteration": [iteration] * len(games),
            "document": [pack(transcript) for transcript, _ in games],
        }
        with self._units.unit(write=True, join=True) as cursor:
            append(cursor, "spool", columns)

    def waiting(self, job_id: str) -> list[int]:
        """The positions of the games that are not scored yet, in the order given."""
        query = "SELECT position FROM spool WHERE job_id = ? AND outcome IS NULL ORDER BY position"
        with self._units.unit() as cursor:
            return [position for (position,) in cursor.execute(query, [job_id]).fetchall()]

    def get(self, job_id: str, position: int) -> WaitingGame:
        """The game that waits there.

        Raises:
            NotFoundError: None does.
        """
        query = """SELECT document, source_name, iteration FROM spool
            WHERE job_id = ? AND position = ? AND outcome IS NULL"""
        with self._units.unit() as cursor:
            found = cursor.execute(query, [job_id, position]).fetchone()
        if found is None:
            raise NotFoundError(f"No game {position + 1} waits in the job {job_id!r}.", remedy="Upload it again.")
        document, source_name, iteration = found
        return WaitingGame(unpack(document), source_name, iteration)

    def settle(self, job_id: str, position: int, outcome: Outcome) -> None:
        """Records what became of a game and lets go of its document."""
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(
                "UPDATE spool SET outcome = ?, document = NULL WHERE job_id = ? AND position = ?",
                [outcome, job_id, position],
            )

    def outcomes(self, job_id: str) -> Mapping[str, int]:
        """Number of the job's games with each outcome so far."""
        query = "SELECT outcome, count(*) FROM spool WHERE job_id = ? AND outcome IS NOT NULL GROUP BY outcome"
        with self._units.unit() as cursor:
            return dict(cursor.execute(query, [job_id]).fetchall())

    def clear(self, job_id: str) -> None:
        """Forgets the job's games; those that are scored stay in the store."""
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute("DELETE FROM spool WHERE job_id = ?", [job_id])
