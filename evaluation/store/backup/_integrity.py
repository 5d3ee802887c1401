"""Read everything in a database, so that damage is found before the data are used."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.import_report import ImportReport
from evaluation.store.backup._rows import tables_of
from evaluation.store.transcript_rows import unpack

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS_AT_ONCE = 50
_JSON_COLUMNS = """
SELECT schema_name, table_name, column_name FROM duckdb_columns()
WHERE database_name = $catalog AND NOT internal AND data_type = 'JSON' AND (schema_name, table_name) IN
    (SELECT (schema_name, table_name) FROM duckdb_tables() WHERE database_name = $catalog AND NOT internal)
ORDER BY ALL
"""

# What the code that reads a column expects in it. A null of JSON stands for nothing, as an empty cell does.
_SHAPES = {
    **dict.fromkeys(("metadata", "details", "control", "body", "persona", "config", "document", "report"), "OBJECT"),
    **dict.fromkeys(("evidence", "citations", "ideas", "links"), "ARRAY"),
}
_WRONG = """
SELECT count(*) FROM {catalog}."{schema}"."{table}"
WHERE CASE WHEN "{column}" IS NULL THEN false WHEN NOT json_valid("{column}") THEN true
    ELSE json_type("{column}") NOT IN ({shapes}) END
"""
_ANY_SHAPE = ("OBJECT", "ARRAY", "VARCHAR", "BOOLEAN", "UBIGINT", "BIGINT", "HUGEINT", "UHUGEINT", "DOUBLE", "NULL")

# Tables with documents that are read as a whole, the column that names a row, and what reads a document.
_DOCUMENTS: tuple[tuple[str, str, str, Callable[[bytes], object]], ...] = (
    ("transcripts", "transcript_id", "transcript", unpack),
    ("spool", "source_name", "waiting game", unpack),
    ("import_reports", "report_id", "import report", lambda text: ImportReport.from_dict(json.loads(text))),
)


def faults_in(connection: DuckDBPyConnection, catalog: str) -> Iterator[str]:
    """Reads every column of every table; yields a sentence for each stored value that cannot be what it should be.

    Args:
        connection: A connection that can read the database.
        catalog: The name there of a database with the tables of Dramaturg, of whatever version.

    Raises:
        duckdb.Error: A block of the file is damaged or missing.
    """
    tables = tables_of(connection, catalog)
    for schema, table in tables:
        # Counting rows asks the table's head only; a hash over whole rows has to read every block.
        connection.execute(
            f'SELECT bit_xor(hash(everything)) FROM {catalog}."{schema}"."{table}" everything'
        ).fetchall()
    for schema, table, column in connection.execute(_JSON_COLUMNS, {"catalog": catalog}).fetchall():
        shapes = (_SHAPES[column], "NULL") if column in _SHAPES else _ANY_SHAPE
        listed = ", ".join(f"'{shape}'" for shape in shapes)
        query = _WRONG.format(catalog=catalog, schema=schema, table=table, column=column, shapes=listed)
        found = connection.execute(query).fetchone()
        if found and found[0]:
            yield f"In {found[0]} rows of {table} the column {column} does not hold the JSON that belongs there."
    for schema, table in tables:
        yield from _unreadable(connection, f'{catalog}."{schema}"."{table}"', table)


def _unreadable(connection: DuckDBPyConnection, place: str, table: str) -> Iterator[str]:
    for name, key, what, read in _DOCUMENTS:
        if name != table:
            continue
        rows = connection.execute(f'SELECT "{key}", document FROM {place} WHERE document IS NOT NULL')
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            yield from (f"The {what} {label!r} cannot be read." for label, text in some if not _can(read, text))


def _can(read: Callable[[bytes], object], document: bytes) -> bool:
    try:
        read(document)
    except (zlib.error, BrokenTranscriptError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return True
