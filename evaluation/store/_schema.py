"""The database's tables: ``schema.sql`` for an empty file, and numbered steps to it from older released versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import NewerSchemaError, StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIRST = 40
"""The number of the first schema: those before it were never released."""

Migration = Callable[["DuckDBPyConnection"], None]


MIGRATIONS: tuple[Migration, ...] = ()
"""The steps after ``FIRST``, in their order: only ever append. ``schema.sql`` is what they end in."""

_FILE = Path(__file__).with_name("schema.sql")
_NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal
"""
_EXPORTS = (
    "Run with the version that wrote it: dramaturg export transcripts --format canonical -o games.zip, and "
    "dramaturg export ratings -o ratings.csv; import both here."
)


def newest(migrations: tuple[Migration, ...] = MIGRATIONS) -> int:
    """The number of the schema that this version of Dramaturg writes."""
    return FIRST + len(migrations)


def migrate(connection: DuckDBPyConnection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Brings the database to the newest schema; a database that has it already is left alone.

    Raises:
        NewerSchemaError: It has a newer schema than this version of Dramaturg knows.
        StoreError: It has an older one that cannot be brought up to date, may only be read, or is somebody else's.
    """
    found = applied(connection)
    if found:
        require_known(found, newest(migrations))
    if found < newest(migrations) and _may_only_be_read(connection):
        raise StoreError(
            "The database has no tables yet, or those of an older version, and may only be read there.",
            remedy="Copy it to a place where you may write, and name that, or the file itself, with --db.",
        )
    if not found:
        _run(connection, newest(migrations), _make_tables)
    for number, migration in enumerate(migrations[found - FIRST :] if found else (), start=found + 1):
        _run(connection, number, migration)


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


def require_known(number: int, known: int) -> None:
    """Refuses the number of a schema that this version cannot read.

    Raises:
        NewerSchemaError: It is newer than ``known``.
        StoreError: It is older than the first.
    """
    if number > known:
        raise NewerSchemaError(
            f"The database has schema {number}; this version of Dramaturg knows {known}.",
            remedy="Update Dramaturg, or choose another database with --db.",
        )
    if number < FIRST:
        raise StoreError(
            f"The database has schema {number}, of a version before the first release, which is not read.",
            remedy=_EXPORTS,
        )


def _make_tables(connection: DuckDBPyConnection) -> None:
    connection.execute(_FILE.read_text("utf-8"))


def _may_only_be_read(connection: DuckDBPyConnection) -> bool:
    found = connection.execute("SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()")
    return bool(found.fetchall()[0][0])


def _run(connection: DuckDBPyConnection, number: int, migration: Migration) -> None:
    is_done = False
    connection.begin()
    try:
        migration(connection)
        connection.execute("INSERT INTO schema_migrations (number, name) VALUES (?, ?)", [number, migration.__name__])
        connection.commit()
        is_done = True
    finally:
        if not is_done:
            connection.rollback()
