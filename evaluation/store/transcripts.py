"""Transcripts in the store: each is added whole, in one transaction, and comes back equal to what went in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, NotFoundError
from evaluation.store.checks import readable
from evaluation.store.tables import append, columns_of, frame, marks, next_numbers
from evaluation.store.transcript_rows import child_rows, transcript_row, unpack
from evaluation.store.units import Units
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

SHORTEST_PREFIX = 4

_CHILDREN = ("players", "messages", "votes", "eliminations")
_ATTACHED = ("metric_results", "ratings", "assignments", "overrides", "score_failures")


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a transcript that was to be stored.

    Attributes:
        is_new: False when the same content was stored before; nothing was changed then.
        iteration: The iteration that it belongs to now, ``None`` for none.
    """

    transcript_id: str
    is_new: bool
    iteration: str | None = None


class Transcripts:
    """Adds, finds, lists and deletes transcripts."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, transcript: Transcript, *, source_name: str, iteration: str | None = None) -> Added:
        """Stores one transcript.

        Args:
            transcript: What to store.
            source_name: The file or folder as the person knows it.
            iteration: Name of an iteration that exists; ``None`` leaves the transcript outside all of them.

        Raises:
            NotFoundError: There is no such iteration.
        """
        return self.add_many([(transcript, source_name)], iteration=iteration)[0]

    def add_many(self, items: Iterable[tuple[Transcript, str]], *, iteration: str | None = None) -> list[Added]:
        """Stores transcripts with their source names in one transaction: all of them or none.

        Returns:
            One ``Added`` per item, in the order given. The second of two with the same content is not new.

        Raises:
            NotFoundError: There is no such iteration.
        """
        given = list(items)
        with self._units.unit(write=True) as cursor:
            require_iteration(cursor, iteration)
            known = iterations_of(cursor, [transcript.id for transcript, _ in given])
            fresh: dict[str, _Rows] = {}
            for transcript, source_name in given:
                if transcript.id not in known and transcript.id not in fresh:
                    fresh[transcript.id] = _Rows.of(transcript, readable(source_name), iteration)
            _insert(cursor, list(fresh.values()))
        return [
            Added(transcript.id, fresh.pop(transcript.id, None) is not None, known.get(transcript.id, iteration))
            for transcript, _ in given
        ]

    def get(self, transcript_id: str) -> Transcript:
        """The transcript with that full id, equal to the one that was added.

        Raises:
            NotFoundError: There is none.
        """
        with self._units.unit() as cursor:
            found = cursor.execute(
                "SELECT document FROM transcripts WHERE transcript_id = ?", [readable(transcript_id)]
            ).fetchone()
        if found is None:
            raise _unknown(transcript_id)
        return unpack(found[0])

    def resolve(self, reference: str) -> str:
        """The id of the transcript that a person means by its id, its game id, or the first 4 or more digits of its id.

        Raises:
            NotFoundError: No transcript answers to it.
            ConflictError: Several do.
        """
        query = """
            SELECT transcript_id, transcript_id = $ref, game_id = $ref FROM transcripts
            WHERE game_id = $ref OR (len($ref) >= $shortest AND starts_with(transcript_id, $ref))"""
        with self._units.unit() as cursor:
            found = cursor.execute(query, {"ref": readable(reference), "shortest": SHORTEST_PREFIX}).fetchall()
        for candidates in ([i for i, is_id, _ in found if is_id], [i for i, _, is_game in found if is_game]):
            if len(candidates) == 1:
                return str(candidates[0])
        if len(found) == 1:
            return str(found[0][0])
        raise _ambiguous(reference, sorted(str(row[0]) for row in found)) if found else _unknown(reference)

    def summaries(self, iteration: str | None = None) -> pd.DataFrame:
        """The stored transcripts without their text, in the order in which they were put into their iteration.

        Returns:
            One row per transcript: ``transcript_id``, ``game_id``, ``source_format``, ``source_name``, ``iteration``
            (empty for none), ``position`` (within the iteration, from 0), ``players`` and ``messages`` (counts),
            ``total_usd`` and ``cache_hit_rate`` (0 to 1; empty where nothing was recorded), ``added_at`` (UTC).
        """
        with self._units.unit() as cursor:
            return frame(
                cursor,
                _SUMMARIES,
                {"iteration": None if iteration is None else readable(iteration)},
                times=["added_at"],
            )

    def delete(self, transcript_id: str) -> None:
        """Removes a transcript with everything that was computed from it or said about it.

        Raises:
            NotFoundError: There is none.
        """
        with self._units.unit(write=True) as cursor:
            require_transcript(cursor, transcript_id)
            for table, key, query in _DEPENDENT:
                cursor.execute(f"DELETE FROM {table} WHERE {key} IN ({query})", [transcript_id])
            for table in (*_ATTACHED, *_CHILDREN, "transcripts"):
                cursor.execute(f"DELETE FROM {table} WHERE transcript_id = ?", [transcript_id])


_SUMMARIES = """
SELECT transcript_id, game_id, source_format, source_name, iteration,
       (row_number() OVER (PARTITION BY iteration ORDER BY position) - 1)::integer AS position,
       players, messages, total_usd, cache_hit_rate, timezone('UTC', added_at) AS added_at
FROM transcripts
WHERE $iteration::text IS NULL OR iteration = $iteration
ORDER BY transcripts.position
"""

_DEPENDENT = (
    ("ledger", "result_id", "SELECT result_id FROM metric_results WHERE transcript_id = ?"),
    ("drafts", "token", "SELECT token FROM assignments WHERE transcript_id = ?"),
)


@dataclass(frozen=True, slots=True)
class _Rows:
    """A transcript as rows: its own, and those of the tables below it."""

    own: dict[str, Any]
    children: dict[str, list[dict[str, Any]]]

    @classmethod
    def of(cls, transcript: Transcript, source_name: str, iteration: str | None) -> _Rows:
        return cls(transcript_row(transcript, source_name, iteration), child_rows(transcript))


def require_transcript(cursor: DuckDBPyConnection, transcript_id: str) -> None:
    """Raises ``NotFoundError`` unless the transcript is stored."""
    if (
        cursor.execute("SELECT 1 FROM transcripts WHERE transcript_id = ?", [readable(transcript_id)]).fetchone()
        is None
    ):
        raise _unknown(transcript_id)


def require_iteration(cursor: DuckDBPyConnection, name: str | None) -> None:
    """Raises ``NotFoundError`` unless the iteration exists; ``None`` stands for no iteration."""
    query = "SELECT 1 FROM iterations WHERE name = ?"
    if name is not None and cursor.execute(query, [readable(name)]).fetchone() is None:
        raise NotFoundError(f"There is no iteration {name!r}.", remedy="Create it first: dramaturg iterations.")


def _insert(cursor: DuckDBPyConnection, transcripts: Sequence[_Rows]) -> None:
    numbers = next_numbers(cursor, "transcript_numbers", len(transcripts))
    own = [rows.own | {"position": number} for rows, number in zip(transcripts, numbers, strict=True)]
    append(cursor, "transcripts", columns_of(own))
    for table in _CHILDREN:
        append(cursor, table, columns_of(row for rows in transcripts for row in rows.children[table]))


def iterations_of(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> dict[str, str | None]:
    """The stored ones among the transcripts, with their iterations."""
    query = f"SELECT transcript_id, iteration FROM transcripts WHERE transcript_id IN ({marks(transcript_ids)})"
    return dict(cursor.execute(query, list(transcript_ids)).fetchall())


def _unknown(reference: str) -> NotFoundError:
    return NotFoundError(f"No stored transcript is called {reference!r}.", remedy="See them with: dramaturg list.")


def _ambiguous(reference: str, candidates: Sequence[str]) -> ConflictError:
    return ConflictError(
        f"{reference!r} could be any of {len(candidates)} transcripts: {', '.join(candidates[:5])}.",
        remedy="Give more of the id.",
    )
