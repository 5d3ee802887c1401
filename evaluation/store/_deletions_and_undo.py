"""Deletions: transcripts and iterations are marked as deleted, with author and time, until undo brings them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.store._bulk_rows import from_microseconds, next_numbers, require_text
from evaluation.store.transactions import UnitsPart
from evaluation.store.transcripts import (
    GAME_NAMES,
    deleted_ones,
    iterations_of,
    require_iteration,
    restore,
    unknown_transcript,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class DeletionKind(StrEnum):
    """Kind of a deletion: one or more ``games``, or an ``iteration`` (with its games or without)."""

    GAMES = "games"
    ITERATION = "iteration"


@dataclass(frozen=True, slots=True)
class Deletion:
    """Something deleted that can come back.

    Attributes:
        label: What it is called: the name of the game or iteration, or how many games ("2 of 3 games" when one of them
            was added again since).
        games: How many games of it are still deleted; an iteration that left its games has none.
        who: Who deleted it.
    """

    id: int
    kind: DeletionKind
    label: str
    games: int
    who: str
    deleted_at: datetime


_Deletions = list[Deletion]


class Deletions(UnitsPart):
    """Deletes transcripts and iterations, undoes that, and removes for ever."""

    def delete(self, transcript_ids: Sequence[str], *, who: str) -> Deletion:
        """Deletes transcripts, with everything that was computed from them or said about them.

        They appear nowhere until the deletion is undone, or until the same content is added again.

        Args:
            transcript_ids: Full ids; all of them or none.
            who: The person's name.

        Raises:
            NotFoundError: One of them is not stored.
            InputError: None, or nobody, is named.
        """
        require_text(who=who)
        ids = list(dict.fromkeys(map(well_formed, transcript_ids)))
        if not ids:
            raise InputError("No transcript is named.", remedy="Name at least one.")
        with self._units.unit(write=True, join=True) as cursor:
            known = iterations_of(cursor, ids)
            for transcript_id in ids:
                if transcript_id not in known:
                    raise unknown_transcript(transcript_id)
            label = f"{len(ids)} games" if len(ids) > 1 else _name_of(cursor, ids[0])
            deletion_id = _record(cursor, DeletionKind.GAMES, label, len(ids), who)
            condition = "list_contains(?::text[], transcript_id)"
            cursor.execute(_MARK.format("transcripts", condition), [deletion_id, ids])
            return _one(cursor, deletion_id)

    def delete_iteration(self, name: str, *, who: str, with_games: bool = False) -> Deletion:
        """Deletes an iteration, with its sign-offs and promotions.

        Args:
            name: Its name. Iterations that name it as their parent go on doing so.
            who: The person's name.
            with_games: Whether its games go with it; else they stay, outside all iterations.

        Raises:
            NotFoundError: There is no iteration of that name.
            InputError: Nobody is named.
        """
        require_text(who=who)
        with self._units.unit(write=True, join=True) as cursor:
            number = require_iteration(cursor, name)
            found = cursor.execute("SELECT count(*) FROM transcripts WHERE iteration = ?", [name]).fetchall()
            deletion_id = _record(cursor, DeletionKind.ITERATION, name, int(found[0][0]) * with_games, who)
            if with_games:
                cursor.execute(_MARK.format("transcripts", "iteration_number = ?"), [deletion_id, number])
            cursor.execute(_MARK.format("iterations", "position = ?"), [deletion_id, number])
            return _one(cursor, deletion_id)

    def undo(self, deletion_id: int, *, who: str) -> Deletion:
        """Brings back what a deletion took, as and where it was; returns the deletion.

        A game that was put into another iteration since stays there.

        Raises:
            NotFoundError: There is no such deletion.
            ConflictError: It was undone or removed for ever, or another iteration has the name now.
            InputError: Nobody is named.
        """
        require_text(who=who)
        with self._units.unit(write=True, join=True) as cursor:
            deletion = _require_open(cursor, deletion_id)
            if taken := cursor.execute(_NAME_TAKEN, [deletion_id]).fetchone():
                raise ConflictError(
                    f"Another iteration is called {taken[0]!r} now.", remedy="Rename that one first, then undo."
                )
            cursor.execute("UPDATE stored_iterations SET deletion_id = NULL WHERE deletion_id = ?", [deletion_id])
            restore(cursor, _games_of(cursor, deletion_id), who)
            _end(cursor, deletion_id, "undone", who)
        return deletion

    def purge(self, deletion_id: int, *, who: str) -> Deletion:
        """Removes for ever what a deletion took; that it happened stays on record.

        Raises:
            NotFoundError: There is no such deletion.
            ConflictError: It was undone or removed before.
            InputError: Nobody is named.
        """
        require_text(who=who)
        with self._units.unit(write=True, join=True) as cursor:
            deletion = _require_open(cursor, deletion_id)
            _purge(cursor, _games_of(cursor, deletion_id))
            for table, number in _OF_ITERATION.items():
                cursor.execute(f"DELETE FROM {table} WHERE {number} IN ({_NUMBER})", [deletion_id])
            _end(cursor, deletion_id, "purged", who)
        return deletion

    def among(self, transcript_ids: Sequence[str]) -> frozenset[str]:
        """The deleted ones among the transcripts: adding them again brings them back."""
        with self._units.unit() as cursor:
            return frozenset(deleted_ones(cursor, list(transcript_ids)))

    def list(self) -> _Deletions:
        """The deletions that can be undone, the latest first."""
        return [_deletion(row) for row in self._units.rows(f"{_SELECT} ORDER BY d.deletion_id DESC")]


def _record(cursor: DuckDBPyConnection, kind: DeletionKind, label: str, games: int, who: str) -> int:
    deletion_id = next_numbers(cursor, "deletion_numbers", 1)[0]
    cursor.execute(
        "INSERT INTO deletions (deletion_id, kind, label, games, who) VALUES (?, ?, ?, ?, ?)",
        [deletion_id, kind, label, games, who],
    )
    return deletion_id


def _end(cursor: DuckDBPyConnection, deletion_id: int, how: str, who: str) -> None:
    cursor.execute(
        "UPDATE deletions SET ended = ?, ended_by = ?, ended_at = now() WHERE deletion_id = ?", [how, who, deletion_id]
    )


def _purge(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    """Removes every row that belongs to the transcripts, what hangs on a result or a form first."""
    columns: dict[str, set[str]] = {}
    for table, column in cursor.execute(_COLUMNS, [list(_LINKS)]).fetchall():
        columns.setdefault(table, set()).add(column)
    for table in sorted(columns.keys() - KEPT, key=lambda one: "transcript_id" in columns[one]):
        link = "transcript_id" if "transcript_id" in columns[table] else columns[table].pop()
        cursor.execute(f"DELETE FROM {table} WHERE {_LINKS[link]}", {"ids": list(transcript_ids)})


def _require_open(cursor: DuckDBPyConnection, deletion_id: int) -> Deletion:
    found = cursor.execute("SELECT ended FROM deletions WHERE deletion_id = ?", [deletion_id]).fetchone()
    if found is None:
        raise NotFoundError(f"There is no deletion {deletion_id}.", remedy="See them on the page Games.")
    if found[0] is not None:
        done = "undone" if found[0] == "undone" else "removed for ever"
        raise ConflictError(f"Deletion {deletion_id} was {done} before.", remedy="See what is left on the page Games.")
    return _one(cursor, deletion_id)


def _one(cursor: DuckDBPyConnection, deletion_id: int) -> Deletion:
    row = cursor.execute(f"{_SELECT} AND d.deletion_id = ?", [deletion_id]).fetchone()
    assert row is not None
    return _deletion(row)


def _deletion(row: tuple[Any, ...]) -> Deletion:
    number, kind, label, games, at_first, who, deleted_at = row
    if kind == DeletionKind.GAMES and games != at_first:
        # The others were added again since.
        label = f"{games} of {label}"
    return Deletion(number, DeletionKind(kind), label, games, who, from_microseconds(deleted_at))


def _games_of(cursor: DuckDBPyConnection, deletion_id: int) -> list[str]:
    rows = cursor.execute(
        "SELECT transcript_id FROM stored_transcripts WHERE deletion_id = ?", [deletion_id]
    ).fetchall()
    return [str(row[0]) for row in rows]


def _name_of(cursor: DuckDBPyConnection, transcript_id: str) -> str:
    return str(
        cursor.execute(f"SELECT game FROM ({GAME_NAMES}) WHERE transcript_id = ?", [transcript_id]).fetchall()[0][0]
    )


_MARK = "UPDATE stored_{} SET deletion_id = ? WHERE deletion_id IS NULL AND {}"

_SELECT = """
SELECT d.deletion_id, d.kind, d.label,
    (SELECT count(*) FROM stored_transcripts t WHERE t.deletion_id = d.deletion_id), d.games, d.who,
    epoch_us(d.deleted_at)
FROM deletions d WHERE d.ended IS NULL
"""

_NUMBER = "SELECT position FROM stored_iterations WHERE deletion_id = ?"

_NAME_TAKEN = "SELECT name FROM iterations SEMI JOIN (FROM stored_iterations WHERE deletion_id = ?) USING (name)"

_OF_ITERATION = {
    "iteration_events": "iteration_number",
    "iteration_changes": "iteration_number",
    "stored_iterations": "position",
}

KEPT = frozenset({"judgements", "llm_calls", "evaluation_runs", "evaluation_scores", "correction_logs"})
"""Tables that stay whatever becomes of a transcript: what was paid for, and what was said about an agent."""

_OWN = "transcript_id IN (SELECT unnest($ids::text[]))"

# How a row belongs to a transcript: by its own column, else by one of the others.
_LINKS = {
    "token": f"token IN (SELECT token FROM assignments WHERE {_OWN})",
    "result_id": f"result_id IN (SELECT result_id FROM metric_results WHERE {_OWN})",
    "transcript_id": _OWN,
}

_COLUMNS = """
SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() USING (schema_name, table_name)
WHERE list_contains(?::text[], column_name)
"""
