"""Copy and restore the whole database: copied during use, checked before a restore, and never without a copy."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import BrokenTranscriptError, ConflictError, InputError, NotFoundError, StoreError
from evaluation.readers.import_report import ImportReport
from evaluation.store import _duckdb_errors
from evaluation.store._bulk_rows import require_storable
from evaluation.store._database_file import CONFIG
from evaluation.store._files import PRIVATE_FILE, make_folder, name_for_kept, unfinished
from evaluation.store.database import make_tables, require_known
from evaluation.store.settings import setting_fault
from evaluation.store.transactions import StorePart
from evaluation.store.transcript_rows import unpack
from evaluation.text.display import counted, shortened

if TYPE_CHECKING:
    import duckdb
    from duckdb import DuckDBPyConnection


_LONGEST_WORDS = 300
_NAMES = frozenset({"base_url", "pricing", "recordings"})
"""What settings of a judge call an address or a file; see ``JudgeConfig``."""


def _settings(connection: DuckDBPyConnection, catalog: str) -> list[tuple[str, str]]:
    """Every setting: its key, and its value as JSON."""
    query = f"SELECT key, CAST(value AS text) FROM {_quoted(catalog)}.main.settings ORDER BY key"
    return connection.execute(query).fetchall()


def _fault(key: str, value: str) -> str | None:
    """Why a setting is not restored: it cannot be used, or names a server or a file, to which keys would go."""
    if fault := setting_fault(key, value):
        return fault
    left = deque[tuple[str, object]]([("", json.loads(value))])
    while left:
        name, held = left.popleft()
        if isinstance(held, dict):
            left += [*held.items(), *(("", inner) for inner in held)]
        elif isinstance(held, list):
            left += [(name, one) for one in held]
        # What reads addresses skips spaces and line ends inside them.
        elif isinstance(held, str) and held and (name in _NAMES or "://" in "".join(held.split())):
            return f"it names {held}, to which keys may be sent"
    return None


_ANOTHER = "Choose a file that Dramaturg wrote as a backup."
_HEADER_BYTES = 3 * 4096
"""What DuckDB writes before the first block."""

_KEEP_FILE = "Keep a copy of the file itself, and go back to the latest backup that can be used."
_COUNTS = """
WITH living AS (SELECT transcript_id FROM {catalog}.main.stored_transcripts WHERE deletion_id IS NULL)
SELECT (SELECT max(number) FROM {catalog}.main.schema_migrations), (SELECT count(*) FROM living),
       (SELECT count(*) FROM {catalog}.main.stored_iterations WHERE deletion_id IS NULL),
       (SELECT count(*) FROM {catalog}.main.ratings SEMI JOIN living USING (transcript_id))
"""
_NUMBER = "SELECT max(number) FROM {catalog}.main.schema_migrations"
_LINES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class BackupInfo:
    """Contents of a database or a backup.

    Attributes:
        schema: The number of its schema.
        size: Bytes of the file, with those of its log; 0 in memory.
        left_out: Settings that are not restored: the setting, and why.
    """

    schema: int
    transcripts: int
    iterations: int
    ratings: int
    size: int
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """The contents in words: "21 transcripts, 4 iterations, 22 ratings"."""
        counts = ((self.transcripts, "transcript"), (self.iterations, "iteration"), (self.ratings, "rating"))
        return ", ".join(counted(count, noun) for count, noun in counts)

    @property
    def left_out_lines(self) -> list[str]:
        """A line of untrusted text for each setting that is not restored."""
        lines = [shortened(f"{key}: {why}", _LONGEST_WORDS) for key, why in self.left_out]
        more = len(lines) - _LINES_SHOWN
        return [*lines[:_LINES_SHOWN], *([f"and {more} more"] if more > 0 else [])]


class Backups(StorePart):
    """Writes, checks and restores backups of one database file."""

    def info(self) -> BackupInfo:
        """Contents of the database as it stands."""
        with self._store.unit() as cursor:
            return _info(cursor, _catalog(cursor), self._store.place)

    def write(self, path: Path) -> BackupInfo:
        """Writes the database, as it stands between two changes, to a new file, and says what is in it.

        Raises:
            ConflictError: The file exists.
            InputError: Its folder does not exist, or UTF-8 cannot hold its name.
            StoreError: The disk is full, or the database cannot be read.
        """
        _require_new(path)
        with unfinished(path) as copy:
            try:
                with self._store.unit() as cursor, self._store.nobody_else_writes():
                    catalog = _catalog(cursor)
                    _require_own(cursor, catalog, path)
                    _write_rows(cursor, catalog, copy, from_place=self._store.place, to_place=path)
                info = check_backup(copy)
            except InputError as error:
                # What was copied faithfully and cannot be used could not be used before either.
                raise StoreError(
                    f"The database cannot be backed up: {error.message}", place=self._store.place, remedy=_KEEP_FILE
                ) from error
            copy.replace(path)
        return info

    def restore(self, path: Path) -> Path | None:
        """Puts the rows of a backup in the place of the database, whose file stays beside it under another name.

        The new file is made from today's tables. Nothing else that the backup defines gets into it.

        Args:
            path: The backup.

        Returns:
            Where the database of before is now; ``None`` when there was none.

        Raises:
            InputError: It is not a backup of Dramaturg; nothing was changed then.
            ConflictError: A job is running.
            StoreBusyError: The database was in use all the time.
        """
        place = self._store.path
        if place is None:
            raise InputError("A database in memory cannot be restored.", remedy="Give it a file with --db.")
        _require_file(path)
        kept = name_for_kept(place) if place.exists() else None
        make_folder(place.parent)
        with unfinished(place) as copy:
            with _readable(path) as source:
                info = _check(source, path)
                self._require_no_job()
                left_out = {key for key, _ in info.left_out}
                _write_rows(source, SOURCE, copy, from_place=str(path), to_place=place, left_out_settings=left_out)
            self._store.replace_file(copy, kept)
        return kept

    def _require_no_job(self) -> None:
        running = []
        # A database that is too damaged to be read is what backups are for; another program may have written into it.
        with suppress(StoreError, ValueError, TypeError, OverflowError):
            running = self._store.jobs.running()
        if running:
            raise ConflictError(f"{running[0].label} is running.", remedy="Wait for it, or cancel it, then restore.")


def _write_rows(
    source: DuckDBPyConnection,
    catalog: str,
    copy: Path,
    *,
    from_place: str,
    to_place: Path,
    left_out_settings: Collection[str] = (),
) -> None:
    """Makes ``copy`` a database of today's schema with the source's rows; an error names the place that it is about.

    ``from_place`` is what errors call the source; to ``to_place`` the copy goes when it is done.
    """
    import duckdb

    try:
        with duckdb.connect(str(copy), config=CONFIG) as target:
            make_tables(target)
            copy_rows(source, catalog, target, left_out_settings=left_out_settings)
        copy.chmod(PRIVATE_FILE)
    except duckdb.Error as error:
        if isinstance(error, _duckdb_errors.row_faults()):
            raise _unusable(Path(from_place), error) from None
        if _duckdb_errors.is_damage(error) and catalog == SOURCE:
            raise _unusable(Path(from_place), error) from None
        raise _duckdb_errors.explain(error, from_place if _duckdb_errors.is_damage(error) else str(to_place)) from error


def _catalog(cursor: DuckDBPyConnection) -> str:
    return str(cursor.execute("SELECT current_database()").fetchall()[0][0])


def check_backup(path: Path) -> BackupInfo:
    """The contents of a backup, after every column of every table was read.

    Raises:
        NotFoundError: There is no such file.
        InputError: It is not a database, no database of Dramaturg, one of a newer version, or damaged; or UTF-8 cannot
            hold its name.
    """
    _require_file(path)
    with _readable(path) as connection:
        return _check(connection, path)


def _require_file(path: Path) -> None:
    require_storable(path=str(path))
    if not path.is_file():
        raise NotFoundError("There is no such file.", place=str(path), remedy="Check the path.")


def _check(connection: DuckDBPyConnection, path: Path) -> BackupInfo:
    _require_whole(connection, path)
    _require_own(connection, SOURCE, path)
    if fault := next(faults_in(connection, SOURCE), None):
        raise InputError(f"It cannot be used as a backup: {fault}", place=str(path), remedy=_ANOTHER)
    settings = _settings(connection, SOURCE)
    return replace(
        _info(connection, SOURCE, str(path)),
        left_out=tuple((key, fault) for key, value in settings if (fault := _fault(key, value))),
    )


def _require_whole(connection: DuckDBPyConnection, path: Path) -> None:
    """Refuse a file shorter than the blocks in use (free ones at its end are cut): an index may be read late."""
    query = "SELECT block_size * used_blocks FROM pragma_database_size() WHERE database_name = ?"
    found = connection.execute(query, [SOURCE]).fetchone()
    if found and path.stat().st_size < _HEADER_BYTES + int(found[0]):
        raise InputError(
            "It cannot be used as a backup: The database file is damaged: its end is missing.",
            place=str(path),
            remedy=_ANOTHER,
        )


def _require_own(connection: DuckDBPyConnection, catalog: str, path: Path) -> None:
    """It must have the very tables that this version makes."""
    columns, number = _columns(connection, catalog), None
    if "number" in columns.get(("main", _VERSIONS), ()):
        found = connection.execute(_NUMBER.format(catalog=_quoted(catalog))).fetchone()
        number = found[0] if found else None
    if not isinstance(number, int) or number < 1:
        raise InputError("It is not a database of Dramaturg.", place=str(path), remedy=_ANOTHER)
    try:
        require_known(number)
    except StoreError as error:
        raise InputError(str(error.message), place=str(path), remedy=error.remedy) from None
    if (set(tables_of(connection, catalog)), columns) != _own_tables():
        raise InputError("Its tables are not those of Dramaturg.", place=str(path), remedy=_ANOTHER)


@cache
def _own_tables() -> tuple[set[Table], dict[Table, dict[str, str]]]:
    """The tables that this version makes, and the columns of tables and views."""
    import duckdb

    with duckdb.connect(":memory:", config=CONFIG) as fresh:
        make_tables(fresh)
        return set(tables_of(fresh, _catalog(fresh))), _columns(fresh, _catalog(fresh))


def _quoted(name: str) -> str:
    """The name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _info(connection: DuckDBPyConnection, catalog: str, place: str) -> BackupInfo:
    ((schema, transcripts, iterations, ratings),) = connection.execute(
        _COUNTS.format(catalog=_quoted(catalog))
    ).fetchall()
    size = sum(path.stat().st_size for ending in ("", ".wal") if (path := Path(place + ending)).is_file())
    return BackupInfo(schema, transcripts, iterations, ratings, size)


def _unusable(path: Path, error: duckdb.Error) -> InputError:
    reason = str(_duckdb_errors.explain(error, "").message)
    return InputError(f"It cannot be used as a backup: {reason}", place=str(path), remedy=_ANOTHER)


def _require_new(path: Path) -> None:
    require_storable(path=str(path))
    if path.exists():
        raise ConflictError("The file exists.", place=str(path), remedy="Choose another name.")
    if not path.parent.is_dir():
        raise InputError("There is no such folder.", place=str(path.parent), remedy="Create it first.")


SOURCE = "backup_source"
"""The name by which ``_readable`` makes a database readable."""

_INCOMING = "incoming_rows"
_ROWS_AT_ONCE = 2_048
_VERSIONS = "schema_migrations"
_TABLES = (
    "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal ORDER BY table_oid"
)
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()
WHERE database_name = ? AND NOT internal ORDER BY column_index
"""
_SEQUENCES = "SELECT sequence_name, last_value FROM duckdb_sequences() WHERE database_name = ? AND schema_name = 'main'"

Table = tuple[str, str]
"""Schema and name."""

_OWNERS = frozenset({(("main", "jobs"), "owner"), (("main", "evaluation_runs"), "owner")})
_FIRST_TIME, _LAST_TIME = "TIMESTAMPTZ '0001-01-02 00:00:00+00'", "TIMESTAMPTZ '9999-12-30 00:00:00+00'"
"""Times that Python can hold, in any zone; the infinite ones lie outside."""


@contextmanager
def _readable(path: Path) -> Iterator[DuckDBPyConnection]:
    """A connection that reads the database at ``path`` under the name ``SOURCE``, and can reach no other file.

    The file's own definitions count for nothing in it: a name without ``SOURCE`` before it, of a function too, means
    what it means in an empty database. Queries should name tables of it only, as a view may do anything.

    Raises:
        InputError: It is not a database, or damaged, which may be seen in the block.
    """
    import duckdb

    place = quoted(path)
    try:
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
    except duckdb.Error as error:
        raise _unusable(path, error) from None


def quoted(path: Path) -> str:
    """The path for a string of SQL."""
    return str(path).replace("'", "''")


def tables_of(connection: DuckDBPyConnection, catalog: str) -> list[Table]:
    """Every base table of an attached database, as they were made: after those that it refers to. Views are none."""
    return [(str(schema), str(table)) for schema, table in connection.execute(_TABLES, [catalog]).fetchall()]


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
        target: An open database with the tables of ``make_tables``.
        left_out_settings: Keys of settings that are not copied.

    Raises:
        duckdb.Error: The source is damaged, a row does not fit, or the target cannot be written.
    """
    own = _catalog(target)
    columns = _columns(target, own)
    for table in tables_of(target, own):
        if table != ("main", _VERSIONS):
            _copy_table(source, catalog, target, table, columns[table], left_out_settings)
    reached = dict(source.execute(_SEQUENCES, [catalog]).fetchall())
    for sequence, _ in target.execute(_SEQUENCES, [own]).fetchall():
        if (last := reached.get(sequence)) is not None:
            target.execute("SELECT setval(?, ?)", [sequence, last]).fetchall()


def _columns(connection: DuckDBPyConnection, catalog: str) -> dict[Table, dict[str, str]]:
    """The types of the columns of each table and view, by name and in their order."""
    found: dict[Table, dict[str, str]] = {}
    for schema, table, name, kind in connection.execute(_COLUMNS, [catalog]).fetchall():
        found.setdefault((schema, table), {})[name] = kind
    return found


def _copy_table(
    source: DuckDBPyConnection,
    catalog: str,
    target: DuckDBPyConnection,
    table: Table,
    columns: Mapping[str, str],
    left_out_settings: Collection[str],
) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    # JSON and identifiers have no type of their own in Arrow's tables, and are checked again when they go in.
    taken = ", ".join(
        # A copy names no owners: what ran when it was made is interrupted in it.
        "''" if (table, name) in _OWNERS else f'CAST("{name}" AS {"text" if kind == "JSON" else kind})'
        for name, kind in columns.items()
    )
    put = ", ".join(f'CAST(column_{i} AS {kind}) AS "{name}"' for i, (name, kind) in enumerate(columns.items()))
    place = f'"{table[0]}"."{table[1]}"'
    query, values = f"SELECT {taken} FROM {_quoted(catalog)}.{place}", []
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


_DOCUMENTS_AT_ONCE = 50
_TIME_COLUMNS = """
SELECT schema_name, table_name, column_name FROM duckdb_columns()
WHERE database_name = $catalog AND NOT internal AND starts_with(data_type, 'TIMESTAMP')
    AND (schema_name, table_name) IN
    (SELECT (schema_name, table_name) FROM duckdb_tables() WHERE database_name = $catalog AND NOT internal)
ORDER BY ALL
"""

# Tables with documents that are read as a whole, the column that names a row, and what reads a document.
_DOCUMENTS: tuple[tuple[str, str, str, Callable[[bytes], object]], ...] = (
    ("stored_transcripts", "transcript_id", "transcript", unpack),
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
    for schema, table in tables_of(connection, catalog):
        # Counting rows asks the table's head only; a hash over whole rows has to read every block.
        connection.execute(
            f'SELECT bit_xor(hash(everything)) FROM {catalog}."{schema}"."{table}" everything'
        ).fetchall()
    for schema, table, column in connection.execute(_TIME_COLUMNS, {"catalog": catalog}).fetchall():
        found = connection.execute(
            f'SELECT count(*) FROM {catalog}."{schema}"."{table}" '
            f'WHERE "{column}"::timestamptz NOT BETWEEN {_FIRST_TIME} AND {_LAST_TIME}'
        ).fetchone()
        if found and found[0]:
            yield f"In {found[0]} rows of {table} the column {column} holds a time that no calendar has."
    for name, key, what, read in _DOCUMENTS:
        rows = connection.execute(f'SELECT "{key}", document FROM {catalog}.main."{name}" WHERE document IS NOT NULL')
        while some := rows.fetchmany(_DOCUMENTS_AT_ONCE):
            yield from (f"The {what} {label!r} cannot be read." for label, text in some if not _can(read, text))


def _can(read: Callable[[bytes], object], document: bytes) -> bool:
    try:
        read(document)
    except (zlib.error, BrokenTranscriptError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    return True
