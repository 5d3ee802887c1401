"""Copy the rows of a database, and nothing else of it, to a new file with Dramaturg's own tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import InputError
from evaluation.store._schema import migrate
from evaluation.store.trash_tables import mirror

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SOURCE = "backup_source"
"""The name by which ``attached`` makes a database readable."""

_INCOMING = "incoming_rows"
_ROWS_AT_ONCE = 2_048
_LARGEST_NUMBER = 2**53
"""The largest number that a sequence may have reached; one that stands at its end gives no more numbers."""

_VERSIONS = "schema_migrations"
_TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal ORDER BY ALL"
_COLUMNS = """
SELECT column_name, data_type FROM duckdb_columns()
WHERE database_name = ? AND schema_name = ? AND table_name = ? ORDER BY column_index
"""
_REFERENCES = """
SELECT table_name, referenced_table FROM duckdb_constraints()
WHERE database_name = current_database() AND constraint_type = 'FOREIGN KEY'
"""
_SEQUENCES = "SELECT sequence_name, last_value FROM duckdb_sequences() WHERE database_name = ? AND schema_name = 'main'"

Table = tuple[str, str]
"""Schema and name."""


@contextmanager
def attached(path: Path) -> Iterator[DuckDBPyConnection]:
    """A connection that reads the database at ``path`` under the name ``SOURCE``, and can reach no other file.

    The file's own definitions count for nothing in it: a name without ``SOURCE`` before it, of a function too, means
    what it means in an empty database. Queries should name tables of it only, as a view may do anything.

    Raises:
        duckdb.Error: It is not a database, or damaged.
    """
    import duckdb

    place = quoted(path)
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET autoload_known_extensions = false")
        connection.execute("SET temp_directory = ''")
        # Before it is opened: a log beside the file is worked in then, with whatever somebody wrote into it.
        connection.execute(f"SET allowed_paths = ['{place}', '{place}.wal']")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        connection.execute(f"ATTACH '{place}' AS {SOURCE} (READ_ONLY, TYPE duckdb)")
        yield connection


def quoted(path: Path) -> str:
    """The path for a string of SQL."""
    return str(path).replace("'", "''")


def tables_of(connection: DuckDBPyConnection, catalog: str) -> list[Table]:
    """Every base table of an attached database; views are none."""
    return [(str(schema), str(table)) for schema, table in connection.execute(_TABLES, [catalog]).fetchall()]


def make_tables(connection: DuckDBPyConnection, trash: Collection[str]) -> None:
    """Gives a database Dramaturg's tables, with a table in the trash for each of ``trash``."""
    migrate(connection)
    found = connection.execute("SELECT current_database()").fetchone()
    assert found is not None
    own = [table for schema, table in tables_of(connection, str(found[0])) if schema == "main" and table in trash]
    if own:
        mirror(connection, own)


def copy_rows(
    source: DuckDBPyConnection, catalog: str, target: DuckDBPyConnection, *, left_out_settings: Collection[str] = ()
) -> None:
    """Copies the rows of every table that ``target`` has, column by column, and how far its sequences have come.

    What else the source holds (views, macros, types, triggers, defaults, other tables) stays behind. Values become
    what the target's columns hold, and keys and constraints are checked anew. The versions in ``schema_migrations``
    are the target's own.

    Args:
        source: A connection that can read the source; its rows must not change meanwhile.
        catalog: The source's name there.
        target: An open database made by ``make_tables``.
        left_out_settings: Keys of settings that are not copied.

    Raises:
        InputError: A sequence stands where no use of Dramaturg brings it.
        duckdb.Error: The source is damaged, a row does not fit, or the target cannot be written.
    """
    found = target.execute("SELECT current_database()").fetchone()
    assert found is not None
    own = str(found[0])
    held = set(tables_of(source, catalog))
    for table in _referenced_first(target, tables_of(target, own)):
        if table in held and table != ("main", _VERSIONS):
            _copy_table(source, catalog, target, own, table, left_out_settings)
    reached = dict(source.execute(_SEQUENCES, [catalog]).fetchall())
    for sequence, _ in target.execute(_SEQUENCES, [own]).fetchall():
        if (last := reached.get(sequence)) is not None:
            if not 1 <= last <= _LARGEST_NUMBER:
                raise InputError(
                    f"It cannot be used as a backup: the sequence {sequence} stands at {last}.",
                    remedy="Choose a file that Dramaturg wrote as a backup.",
                )
            target.execute("SELECT setval(?, ?)", [sequence, last]).fetchall()


def _copy_table(
    source: DuckDBPyConnection,
    catalog: str,
    target: DuckDBPyConnection,
    own: str,
    table: Table,
    left_out_settings: Collection[str],
) -> None:
    held = {name for name, _ in source.execute(_COLUMNS, [catalog, *table]).fetchall()}
    columns = {name: kind for name, kind in target.execute(_COLUMNS, [own, *table]).fetchall() if name in held}
    names = ", ".join(f'"{name}"' for name in columns)
    # JSON and identifiers have no type of their own in Arrow's tables, and are checked again when they go in.
    taken = ", ".join(f'CAST("{name}" AS {"text" if kind == "JSON" else kind})' for name, kind in columns.items())
    put = ", ".join(f'CAST(column_{i} AS {kind}) AS "{name}"' for i, (name, kind) in enumerate(columns.items()))
    place = f'"{table[0]}"."{table[1]}"'
    query, values = f'SELECT {taken} FROM "{quoted_name(catalog)}".{place}', []
    if table == ("main", "settings") and left_out_settings:
        query, values = f"{query} WHERE NOT list_contains(?::text[], key)", [list(left_out_settings)]
    reader = source.sql(query, params=values).to_arrow_reader(_ROWS_AT_ONCE)
    numbered = [f"column_{i}" for i in range(len(columns))]
    target.begin()
    for batch in reader:
        target.register(_INCOMING, batch.rename_columns(numbered))
        target.execute(f"INSERT INTO {place} ({names}) SELECT {put} FROM {_INCOMING}")
        target.unregister(_INCOMING)
    target.commit()


def quoted_name(name: str) -> str:
    """The name for the inside of a quoted identifier of SQL."""
    return name.replace('"', '""')


def _referenced_first(target: DuckDBPyConnection, tables: list[Table]) -> list[Table]:
    """The tables in an order in which each comes after those that its foreign keys name."""
    references = target.execute(_REFERENCES).fetchall()
    left, ordered = list(tables), list[Table]()
    while left:
        waiting = {name for name, other in references if other != name and ("main", other) in left}
        ready = [table for table in left if table[0] != "main" or table[1] not in waiting]
        ordered += ready
        left = [table for table in left if table not in ready]
    return ordered
