"""Deletions: transcripts and iterations move to the trash, with author and time, and are restored whole by undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.store._bulk_rows import from_microseconds, next_numbers, require_text
from evaluation.store.transactions import Units
from evaluation.store.transcripts import GAME_NAMES, iterations_of, require_iteration, unknown_transcript
from evaluation.store.trash_tables import mirror, move_to_trash, purge_rows, restore, trashed

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
        games: How many games of it lie in the trash; an iteration that left its games has none.
        who: Who deleted it.
    """

    id: int
    kind: DeletionKind
    label: str
    games: int
    who: str
    deleted_at: datetime


_Deletions = list[Deletion]


class Deletions:
    """Deletes transcripts and iterations, undoes that, and removes for ever."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def delete(self, transcript_ids: Sequence[str], *, who: str) -> Deletion:
        """Puts transcripts into the trash, with everything that was computed from them or said about them.

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
            _trash_games(cursor, deletion_id, ids)
            return _one(cursor, deletion_id)

    def delete_iteration(self, name: str, *, who: str, with_games: bool = False) -> Deletion:
        """Puts an iteration into the trash, with its sign-offs and promotions.

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
            require_iteration(cursor, name)
            number = _value(cursor, "SELECT position FROM iterations WHERE name = ?", [name])
            found = cursor.execute("SELECT transcript_id FROM transcripts WHERE iteration = ?", [name]).fetchall()
            ids = [str(row[0]) for row in found]
            deletion_id = _record(cursor, DeletionKind.ITERATION, name, len(ids) * with_games, who, number)
            if with_games:
                _trash_games(cursor, deletion_id, ids)
            else:
                cursor.execute(_LEAVE, {"number": number, "name": name})
                cursor.execute("UPDATE transcripts SET iteration = NULL WHERE iteration = ?", [name])
            _trash_iteration(cursor, name, number)
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
            ids = _games_of(cursor, deletion_id)
            if deletion.kind is DeletionKind.ITERATION:
                _bring_back_iteration(cursor, deletion_id)
                _end(cursor, deletion_id, "undone", who)
            restore(cursor, ids, who)
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
            purge_rows(cursor, _games_of(cursor, deletion_id))
            cursor.execute("DELETE FROM deleted_games WHERE deletion_id = ?", [deletion_id])
            for table in _OF_ITERATION:
                cursor.execute(f"DELETE FROM {table} WHERE iteration_number IN ({_NUMBER})", [deletion_id])
            cursor.execute(f"DELETE FROM trash.iterations WHERE position IN ({_NUMBER})", [deletion_id])
            _end(cursor, deletion_id, "purged", who)
        return deletion

    def among(self, transcript_ids: Sequence[str]) -> frozenset[str]:
        """Those among the transcripts that lie in the trash: adding them again brings them back."""
        with self._units.unit() as cursor:
            return frozenset(trashed(cursor, list(transcript_ids)))

    def list(self) -> _Deletions:
        """The deletions in the trash, the latest first."""
        return [_deletion(row) for row in self._units.rows(f"{_SELECT} ORDER BY d.deletion_id DESC")]


def _record(
    cursor: DuckDBPyConnection, kind: DeletionKind, label: str, games: int, who: str, number: int | None = None
) -> int:
    deletion_id = next_numbers(cursor, "deletion_numbers", 1)[0]
    cursor.execute(
        "INSERT INTO deletions (deletion_id, kind, label, games, iteration_number, who) VALUES (?, ?, ?, ?, ?, ?)",
        [deletion_id, kind, label, games, number, who],
    )
    return deletion_id


def _end(cursor: DuckDBPyConnection, deletion_id: int, kind: str, who: str) -> None:
    cursor.execute("INSERT INTO deletion_ends (deletion_id, kind, who) VALUES (?, ?, ?)", [deletion_id, kind, who])


def _trash_games(cursor: DuckDBPyConnection, deletion_id: int, ids: Sequence[str]) -> None:
    cursor.execute(_REGISTER, {"deletion": deletion_id, "ids": list(ids)})
    move_to_trash(cursor, ids)


def _trash_iteration(cursor: DuckDBPyConnection, name: str, number: int) -> None:
    mirror(cursor, ["iterations"])
    cursor.execute("INSERT INTO trash.iterations BY NAME SELECT * FROM iterations WHERE name = ?", [name])
    cursor.execute(
        """INSERT INTO trash.iteration_events BY NAME
        SELECT *, ?::bigint AS iteration_number FROM iteration_events WHERE iteration = ?""",
        [number, name],
    )
    for table, column in (("iteration_events", "iteration"), ("iterations", "name")):
        cursor.execute(f"DELETE FROM {table} WHERE {column} = ?", [name])


def _bring_back_iteration(cursor: DuckDBPyConnection, deletion_id: int) -> None:
    number = _value(cursor, _NUMBER, [deletion_id])
    name = _value(cursor, "SELECT name FROM trash.iterations WHERE position = ?", [number])
    if cursor.execute("SELECT 1 FROM iterations WHERE name = ?", [name]).fetchone():
        raise ConflictError(f"Another iteration is called {name!r} now.", remedy="Rename that one first, then undo.")
    mirror(cursor, ["iterations"])
    for statement in _RETURN:
        cursor.execute(statement, {"number": number})


def _require_open(cursor: DuckDBPyConnection, deletion_id: int) -> Deletion:
    found = cursor.execute(
        "SELECT e.kind FROM deletions d LEFT JOIN deletion_ends e USING (deletion_id) WHERE deletion_id = ?",
        [deletion_id],
    ).fetchone()
    if found is None:
        raise NotFoundError(f"There is no deletion {deletion_id}.", remedy="See them with: dramaturg undo --list.")
    if found[0] is not None:
        done = "undone" if found[0] == "undone" else "removed for ever"
        raise ConflictError(
            f"Deletion {deletion_id} was {done} before.", remedy="See what is left: dramaturg undo --list."
        )
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
    rows = cursor.execute("SELECT game FROM deleted_games WHERE deletion_id = ?", [deletion_id]).fetchall()
    return [str(row[0]) for row in rows]


def _name_of(cursor: DuckDBPyConnection, transcript_id: str) -> str:
    return str(_value(cursor, f"SELECT game FROM ({GAME_NAMES}) WHERE transcript_id = ?", [transcript_id]))


def _value(cursor: DuckDBPyConnection, query: str, values: Sequence[object]) -> Any:
    found = cursor.execute(query, list(values)).fetchone()
    assert found is not None
    return found[0]


_SELECT = """
SELECT d.deletion_id, d.kind, d.label,
    (SELECT count(*) FROM deleted_games g WHERE g.deletion_id = d.deletion_id), d.games, d.who,
    epoch_us(d.deleted_at)
FROM deletions d WHERE d.deletion_id NOT IN (SELECT deletion_id FROM deletion_ends)
"""

_NUMBER = "SELECT iteration_number FROM deletions WHERE deletion_id = ? AND iteration_number IS NOT NULL"

_OF_ITERATION = ("trash.iteration_events", "deleted_memberships", "iteration_changes")

_REGISTER = """
INSERT INTO deleted_games (deletion_id, game, iteration_number)
SELECT $deletion, t.transcript_id, i.position FROM transcripts t LEFT JOIN iterations i ON i.name = t.iteration
WHERE list_contains($ids::text[], t.transcript_id)
"""

_LEAVE = """
INSERT INTO deleted_memberships (iteration_number, game, position)
SELECT $number, transcript_id, position FROM transcripts WHERE iteration = $name
"""

# The games that stayed go back to their places, unless somebody put them elsewhere; those deleted since will follow.
_RETURN = (
    "INSERT INTO iterations BY NAME SELECT * FROM trash.iterations WHERE position = $number",
    """INSERT INTO iteration_events BY NAME
    SELECT * EXCLUDE (iteration_number) FROM trash.iteration_events WHERE iteration_number = $number""",
    """UPDATE transcripts SET position = m.position, iteration = (SELECT name FROM iterations WHERE position = $number)
    FROM deleted_memberships m
    WHERE m.game = transcript_id AND m.iteration_number = $number AND transcripts.iteration IS NULL""",
    """UPDATE deleted_games SET iteration_number = $number
    WHERE iteration_number IS NULL AND game IN (SELECT game FROM deleted_memberships WHERE iteration_number = $number)
    """,
    "DELETE FROM deleted_memberships WHERE iteration_number = $number",
    "DELETE FROM trash.iteration_events WHERE iteration_number = $number",
    "DELETE FROM trash.iterations WHERE position = $number",
)
