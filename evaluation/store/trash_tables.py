"""The trash: where the rows of deleted transcripts stand, out of every query's sight, until they are put back.

Each table of the store has one of the same columns in the schema ``trash``. Rows move there and back as they are, so
that what comes back is what went, and no query has to know about deletions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEPT = frozenset({"judgements", "llm_calls", "evaluation_runs", "evaluation_scores", "correction_logs"})
"""Tables that stay whatever becomes of a transcript: what was paid for, and what was said about an agent."""

_DIRECT = "transcript_id"
_OWN = "transcript_id IN (SELECT unnest($ids::text[]))"

# How a row belongs to a transcript, by the first of these columns that its table has.
_LINKS = {
    _DIRECT: _OWN,
    "result_id": f"result_id IN (SELECT result_id FROM {{schema}}.metric_results WHERE {_OWN})",
    "token": f"token IN (SELECT token FROM {{schema}}.assignments WHERE {_OWN})",
}


def move_to_trash(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    """Moves everything that belongs to the transcripts into the trash."""
    _move(cursor, "main", "trash", transcript_ids)


def _move_back(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    """Moves everything that belongs to the transcripts back to where it was."""
    _move(cursor, "trash", "main", transcript_ids)


def purge_rows(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> None:
    """Removes everything of the transcripts that lies in the trash, for ever."""
    tables = _tables(cursor)
    mirror(cursor, list(tables))
    _remove(cursor, tables, "trash", transcript_ids)


def trashed(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> list[str]:
    """Those among the transcripts that lie in the trash."""
    query = "SELECT game FROM deleted_games WHERE list_contains($ids::text[], game)"
    return [str(game) for (game,) in cursor.execute(query, {"ids": list(transcript_ids)}).fetchall()]


def restore(cursor: DuckDBPyConnection, transcript_ids: Sequence[str], who: str) -> None:
    """Moves transcripts out of the trash, into their earlier iterations, also if these were renamed since.

    One whose iteration is deleted stays outside all of them until that comes back. A deletion of games of which none
    is left in the trash counts as undone.
    """
    if transcript_ids:
        ids = {"ids": list(transcript_ids)}
        cursor.execute(_REMEMBER, ids)
        cursor.execute(_RENAME, ids)
        _move_back(cursor, transcript_ids)
        cursor.execute("DELETE FROM deleted_games WHERE list_contains($ids::text[], game)", ids)
        cursor.execute(_END_EMPTY, {"who": who})


def mirror(cursor: DuckDBPyConnection, tables: Sequence[str]) -> None:
    """Gives the trash tables with the columns of ``tables``, also those that they got since the last time."""
    known = {table for (table,) in cursor.execute(_TRASH_TABLES).fetchall()}
    for table in tables:
        if table not in known:
            cursor.execute(f"CREATE TABLE trash.{table} AS FROM main.{table} LIMIT 0")
    for table, column, kind in cursor.execute(_MISSING_COLUMNS, [list(tables)]).fetchall():
        cursor.execute(f'ALTER TABLE trash.{table} ADD COLUMN "{column}" {kind}')


def _tables(cursor: DuckDBPyConnection) -> dict[str, str]:
    """Every table whose rows belong to transcripts, with the column that says to which.

    What hangs on a result or a form is found through it, so it comes first.
    """
    columns: dict[str, set[str]] = {}
    for table, column in cursor.execute(_COLUMNS, [list(_LINKS)]).fetchall():
        columns.setdefault(table, set()).add(column)
    links = {table: next(link for link in _LINKS if link in columns[table]) for table in sorted(columns.keys() - KEPT)}
    return dict(sorted(links.items(), key=lambda one: one[1] == _DIRECT))


def _move(cursor: DuckDBPyConnection, source: str, target: str, transcript_ids: Sequence[str]) -> None:
    tables = _tables(cursor)
    mirror(cursor, list(tables))
    for table, link in tables.items():
        condition = _LINKS[link].format(schema=source)
        query = f"INSERT INTO {target}.{table} BY NAME SELECT * FROM {source}.{table} WHERE {condition}"
        cursor.execute(query, {"ids": list(transcript_ids)})
    _remove(cursor, tables, source, transcript_ids)


def _remove(cursor: DuckDBPyConnection, tables: Mapping[str, str], schema: str, transcript_ids: Sequence[str]) -> None:
    for table, link in tables.items():
        condition = _LINKS[link].format(schema=schema)
        cursor.execute(f"DELETE FROM {schema}.{table} WHERE {condition}", {"ids": list(transcript_ids)})


_COLUMNS = """
SELECT table_name, column_name FROM duckdb_columns()
WHERE schema_name = 'main' AND NOT internal AND list_contains(?::text[], column_name)
    AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main')
"""

_TRASH_TABLES = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'trash'"

_MISSING_COLUMNS = """
SELECT table_name, column_name, data_type FROM duckdb_columns() o
WHERE schema_name = 'main' AND list_contains(?::text[], table_name) AND NOT EXISTS (
    SELECT 1 FROM duckdb_columns() t
    WHERE t.schema_name = 'trash' AND t.table_name = o.table_name AND t.column_name = o.column_name
)
ORDER BY table_name, column_index
"""

_REMEMBER = """
INSERT INTO deleted_memberships (iteration_number, game, position)
SELECT g.iteration_number, g.game, t.position FROM deleted_games g JOIN trash.transcripts t ON t.transcript_id = g.game
WHERE list_contains($ids::text[], g.game) AND g.iteration_number IN (SELECT position FROM trash.iterations)
"""

_RENAME = """
UPDATE trash.transcripts SET iteration = (
    SELECT i.name FROM deleted_games g JOIN iterations i ON i.position = g.iteration_number WHERE g.game = transcript_id
)
WHERE list_contains($ids::text[], transcript_id)
"""

_END_EMPTY = """
INSERT INTO deletion_ends (deletion_id, kind, who)
SELECT deletion_id, 'undone', $who FROM deletions
WHERE kind = 'games' AND deletion_id NOT IN (SELECT deletion_id FROM deletion_ends)
    AND deletion_id NOT IN (SELECT deletion_id FROM deleted_games)
"""
