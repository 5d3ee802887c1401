"""The database's tables: those of ``schema.sql``, the whole schema as it stands."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import NewerSchemaError, StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA = 42
"""The number of the schema. Those before it were never released, so nothing of theirs is read."""

_FILE = Path(__file__).with_name("schema.sql")
_NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal
"""
_EXPORTS = (
    "Export its games and ratings with the version that wrote it and import both here, with "
    "dramaturg export transcripts --format canonical -o games.zip and dramaturg export ratings -o ratings.csv."
)


def make_tables(connection: DuckDBPyConnection) -> None:
    """Makes the tables of an empty database; one that has them is left alone.

    Raises:
        NewerSchemaError: It has a newer schema than this version of Dramaturg knows.
        StoreError: It has an older one, is empty and may only be read, or is somebody else's.
    """
    if found := applied(connection):
        require_known(found)
        return
    if _may_only_be_read(connection):
        raise StoreError(
            "The database has no tables yet, and may only be read there.",
            remedy="Copy it to a place where you may write, and name that, or the file itself, with --db.",
        )
    connection.begin()
    with ExitStack() as failed:
        failed.callback(connection.rollback)
        connection.execute(_FILE.read_text("utf-8"))
        connection.execute("INSERT INTO schema_migrations (number, name) VALUES (?, 'schema.sql')", [SCHEMA])
        failed.pop_all()
    connection.commit()


def applied(connection: DuckDBPyConnection) -> int:
    """The number of the database's schema; 0 for an empty one.

    Raises:
        StoreError: It is somebody else's: nothing of ours is in it, but other tables or views are. DuckDB shows CSV and
            JSON files as views of a database in memory, in which everything stored would be lost.
    """
    names = {name for (name,) in connection.execute(_NAMES).fetchall()}
    if names and "schema_migrations" not in names:
        raise StoreError(
            "The file is not a database of Dramaturg; nothing was written to it.",
            remedy="Use --db to choose another file; transcripts go in with: dramaturg import.",
        )
    if not names:
        return 0
    # All rows: while a result is open, so is its transaction, and DuckDB works no log of a delete into the file.
    [(number,)] = connection.execute("SELECT coalesce(max(number), 0) FROM schema_migrations").fetchall()
    return int(number)


def require_known(number: int) -> None:
    """Refuses the number of a schema that this version cannot read.

    Raises:
        NewerSchemaError: It is newer.
        StoreError: It is older.
    """
    if number > SCHEMA:
        raise NewerSchemaError(
            f"The database has schema {number}; this version of Dramaturg knows {SCHEMA}.",
            remedy="Update Dramaturg, or choose another database with --db.",
        )
    if number < SCHEMA:
        raise StoreError(
            f"The database has schema {number}, of a version before the first release, which is not read.",
            remedy=_EXPORTS,
        )


def _may_only_be_read(connection: DuckDBPyConnection) -> bool:
    found = connection.execute("SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()")
    return bool(found.fetchall()[0][0])
