"""The database's tables: ``schema.sql`` for an empty file, and numbered steps to it from older released versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import NewerSchemaError, StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIRST = 29
"""The number of the first schema. Those before it were never released; see ``docs/removed.md``."""

Migration = Callable[["DuckDBPyConnection"], None]


def half_points(connection: DuckDBPyConnection) -> None:
    """Schema 30: scores of ratings and of leads' decisions are whole or half points; they were integers."""
    # DuckDB changes no column with a CHECK, and a view remembers the types of its columns.
    connection.execute("""
        DROP VIEW engagement;
        DROP VIEW current_ratings;
        CREATE TEMP TABLE kept_ratings AS SELECT * FROM ratings;
        CREATE TEMP TABLE kept_decisions AS SELECT * FROM engagement_decisions;
        DROP TABLE ratings;
        DROP TABLE engagement_decisions;
        CREATE TABLE ratings (
            token text PRIMARY KEY,
            rating_id bigint NOT NULL DEFAULT nextval('rating_numbers'),
            transcript_id text NOT NULL,
            rater text NOT NULL,
            score double NOT NULL CHECK (score BETWEEN 1 AND 5 AND 2 * score = floor(2 * score)),
            answers boolean[] NOT NULL,
            comment text NOT NULL,
            created_at timestamptz NOT NULL,
            is_past boolean DEFAULT false
        );
        CREATE TABLE engagement_decisions (
            decision_id bigint NOT NULL DEFAULT nextval('engagement_decision_numbers'),
            transcript_id text NOT NULL,
            score double CHECK (score BETWEEN 1 AND 5 AND 2 * score = floor(2 * score)),
            reason text NOT NULL,
            who text NOT NULL,
            undoes bigint,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        INSERT INTO ratings BY NAME SELECT * FROM kept_ratings ORDER BY rating_id;
        INSERT INTO engagement_decisions BY NAME SELECT * FROM kept_decisions ORDER BY decision_id;
        DROP TABLE kept_ratings;
        DROP TABLE kept_decisions;
        CREATE VIEW current_ratings AS
            SELECT * FROM ratings
            QUALIFY row_number() OVER (
                PARTITION BY transcript_id, rater ORDER BY coalesce(is_past, false), rating_id DESC) = 1;
        CREATE VIEW engagement AS
            SELECT transcript_id, avg(score) AS score, count(*) AS raters FROM current_ratings GROUP BY transcript_id;
    """)


def added_rows(connection: DuckDBPyConnection) -> None:
    """Schema 31: an override may add a row, with the words of the message that it is about."""
    connection.execute("ALTER TABLE overrides ADD COLUMN added_words text")


MIGRATIONS: tuple[Migration, ...] = (half_points, added_rows)
"""The steps after ``FIRST``, in their order: only ever append. ``schema.sql`` is what they end in."""

_FILE = Path(__file__).with_name("schema.sql")
_NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal
"""
_EXPORTS = (
    "Run with the version that wrote it: dramaturg export transcripts --format canonical -o games.zip, "
    "dramaturg export ratings -o ratings.csv, and for each game with overrides dramaturg override list GAME "
    "--format json > overrides.json; docs/removed.md says how they are read."
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
            remedy="Choose another file with --db; transcripts go in with: dramaturg import.",
        )
    if not names:
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM schema_migrations").fetchone()
    assert row is not None
    return int(row[0])


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
