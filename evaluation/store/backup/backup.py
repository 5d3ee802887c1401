"""Copy and restore the whole database: copied during use, checked before a restore, and never without a copy."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import ConflictError, InputError, NotFoundError, StoreError
from evaluation.store._jobs import Jobs
from evaluation.store._schema import newest, require_known
from evaluation.store.backup._integrity import faults_in
from evaluation.store.backup._rows import SOURCE, attached, copy_rows, make_tables, quoted_name, tables_of
from evaluation.store.engine import duckdb_errors
from evaluation.store.engine.database_file import CONFIG, DatabaseFile
from evaluation.store.engine.files import name_for_kept, unfinished
from evaluation.store.engine.transactions import Units
from evaluation.store.engine.values import require_storable
from evaluation.text.display import counted, shortened

if TYPE_CHECKING:
    import duckdb
    from duckdb import DuckDBPyConnection


_LONGEST_WORDS = 300
_NAMES = frozenset({"base_url", "pricing", "recordings"})
"""What settings of a judge call an address or a file; see ``JudgeConfig``."""


@dataclass(frozen=True, slots=True)
class StoredAddress:
    """One address in a setting.

    Attributes:
        setting: The key of the setting.
        name: Where it stands in it: ``base_url``, or ``options.base_url``.
        address: The address itself, as it is stored.
    """

    setting: str
    name: str
    address: str

    @property
    def words(self) -> str:
        """The address with its place: ``judge.base_url = http://localhost:8080/v1``; shortened where it is long."""
        return shortened(f"{'.'.join(filter(None, (self.setting, self.name)))} = {self.address}", _LONGEST_WORDS)


def addresses_in(connection: DuckDBPyConnection, catalog: str) -> tuple[StoredAddress, ...]:
    """The addresses in the settings of an attached database, in the order of their keys.

    Raises:
        InputError: A setting cannot be read.
    """
    if ("main", "settings") not in tables_of(connection, catalog):
        return ()
    query = f'SELECT key, CAST(value AS text) FROM "{quoted_name(catalog)}".main.settings ORDER BY key'
    return tuple(found for key, value in connection.execute(query).fetchall() for found in _in_setting(key, value))


def _in_setting(key: str, value: str) -> Iterator[StoredAddress]:
    try:
        left = deque[tuple[str, str, object]]([("", "", json.loads(value))])
    except (ValueError, RecursionError):
        raise InputError(f"It cannot be used as a backup: the setting {key!r} cannot be read.") from None
    while left:
        place, name, held = left.popleft()
        if isinstance(held, dict):
            left += [(f"{place}.{inner}".removeprefix("."), inner, one) for inner, one in held.items()]
            left += [(place, "", inner) for inner in held]
        elif isinstance(held, list):
            left += [(place, name, one) for one in held]
        elif isinstance(held, str) and held and (name in _NAMES or _is_address(held)):
            yield StoredAddress(key, place, held)


def _is_address(text: str) -> bool:
    """Whether anything that reads addresses could take it for one: they skip spaces and line ends inside."""
    return "://" in "".join(text.split())


_ANOTHER = "Choose a file that Dramaturg wrote as a backup."
_HEADER_BYTES = 3 * 4096
"""What DuckDB writes before the first block."""

_KEEP_FILE = "Keep a copy of the file itself, and go back to the latest backup that can be used."
_COUNTS = """
SELECT (SELECT max(number) FROM {catalog}.main.schema_migrations), (SELECT count(*) FROM {catalog}.main.transcripts),
       (SELECT count(*) FROM {catalog}.main.iterations), (SELECT count(*) FROM {catalog}.main.ratings)
"""
_NUMBER = "SELECT max(number) FROM {catalog}.main.schema_migrations"
_NUMBER_COLUMN = """
SELECT count(*) FROM duckdb_columns()
WHERE database_name = ? AND (schema_name, table_name, column_name) = ('main', 'schema_migrations', 'number')
"""
_ADDRESSES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class BackupInfo:
    """Contents of a database or a backup.

    Attributes:
        schema: The number of its schema.
        size: Bytes of the file, with those of its log; 0 in memory.
        addresses: Servers and files that its settings name.
    """

    schema: int
    transcripts: int
    iterations: int
    ratings: int
    size: int
    addresses: tuple[StoredAddress, ...] = ()

    @property
    def words(self) -> str:
        """The contents in words: "21 transcripts, 4 iterations, 22 ratings"."""
        counts = ((self.transcripts, "transcript"), (self.iterations, "iteration"), (self.ratings, "rating"))
        return ", ".join(counted(count, noun) for count, noun in counts)

    @property
    def address_lines(self) -> list[str]:
        """A line for each address, of untrusted text; where there are many, the last one says how many more."""
        lines = [one.words for one in self.addresses[:_ADDRESSES_SHOWN]]
        more = len(self.addresses) - len(lines)
        return [*lines, f"and {more} more"] if more else lines


class Backups:
    """Writes, checks and restores backups of one database file."""

    def __init__(self, units: Units, file: DatabaseFile, jobs: Jobs, wait_seconds: float) -> None:
        self._units = units
        self._file = file
        self._jobs = jobs
        self._wait_seconds = wait_seconds

    def info(self) -> BackupInfo:
        """Contents of the database as it stands."""
        with self._units.unit() as cursor:
            return _info(cursor, _catalog(cursor), self._file.place)

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
                with self._units.unit() as cursor, self._file.nobody_else_writes(self._wait_seconds):
                    catalog = _catalog(cursor)
                    _require_own(cursor, catalog, path)
                    _write_rows(cursor, catalog, copy, from_place=self._file.place, to_place=path)
                info = check_backup(copy)
            except InputError as error:
                # What was copied faithfully and cannot be used could not be used before either.
                raise StoreError(
                    f"The database cannot be backed up: {error.message}", place=self._file.place, remedy=_KEEP_FILE
                ) from error
            copy.replace(path)
        return info

    def restore(self, path: Path, *, with_addresses: bool = False) -> Path | None:
        """Puts the rows of a backup in the place of the database, whose file stays beside it under another name.

        The new file is made from today's tables. Nothing else that the backup defines gets into it.

        Args:
            path: The backup.
            with_addresses: Also take settings that name servers or files (``BackupInfo.addresses``). Show them to
                somebody first: keys are sent to these servers.

        Returns:
            Where the database of before is now; ``None`` when there was none.

        Raises:
            InputError: It is not a backup of Dramaturg; nothing was changed then.
            ConflictError: A job is running.
            StoreBusyError: The database was in use all the time.
        """
        place = self._file.path
        if place is None:
            raise InputError("A database in memory cannot be restored.", remedy="Give it a file with --db.")
        _require_file(path)
        kept = name_for_kept(place) if place.exists() else None
        place.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(place) as copy:
            with _readable(path) as source:
                info = _check(source, path)
                self._require_no_job()
                left_out = set() if with_addresses else {one.setting for one in info.addresses}
                _write_rows(source, SOURCE, copy, from_place=str(path), to_place=place, left_out_settings=left_out)
            check_backup(copy)
            self._file.replace(copy, kept, self._wait_seconds)
        return kept

    def _require_no_job(self) -> None:
        running = []
        # A database that is too damaged to be read is what backups are for.
        with suppress(StoreError):
            running = self._jobs.running()
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

    Args:
        source: A connection that can read the source.
        catalog: The source's name there.
        copy: The file to make.
        from_place: What the source is called in errors.
        to_place: Where the copy goes when it is done.
        left_out_settings: Keys of settings that are not copied.
    """
    import duckdb

    trash = {table for schema, table in tables_of(source, catalog) if schema == "trash"}
    try:
        with duckdb.connect(str(copy), config=CONFIG) as target:
            make_tables(target, trash)
            copy_rows(source, catalog, target, left_out_settings=left_out_settings)
    except duckdb.Error as error:
        if isinstance(error, duckdb_errors.row_faults()):
            raise _unusable(Path(from_place), error) from None
        if duckdb_errors.is_damage(error) and catalog == SOURCE:
            raise _unusable(Path(from_place), error) from None
        raise duckdb_errors.explain(error, from_place if duckdb_errors.is_damage(error) else str(to_place)) from error


def _catalog(cursor: DuckDBPyConnection) -> str:
    found = cursor.execute("SELECT current_database()").fetchone()
    assert found is not None
    return str(found[0])


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


@contextmanager
def _readable(path: Path) -> Iterator[DuckDBPyConnection]:
    """A connection that reads a backup under the name ``SOURCE``; what the engine refuses in the block is damage."""
    import duckdb

    try:
        with attached(path) as connection:
            yield connection
    except duckdb.Error as error:
        raise _unusable(path, error) from None


def _check(connection: DuckDBPyConnection, path: Path) -> BackupInfo:
    _require_whole(connection, path)
    _require_own(connection, SOURCE, path)
    if fault := next(faults_in(connection, SOURCE), None):
        raise InputError(f"It cannot be used as a backup: {fault}", place=str(path), remedy=_ANOTHER)
    return replace(_info(connection, SOURCE, str(path)), addresses=addresses_in(connection, SOURCE))


def _require_whole(connection: DuckDBPyConnection, path: Path) -> None:
    """Refuse a file that is shorter than its size says: the missing part may be an index that is read late."""
    query = "SELECT block_size * total_blocks FROM pragma_database_size() WHERE database_name = ?"
    found = connection.execute(query, [SOURCE]).fetchone()
    if found and path.stat().st_size < _HEADER_BYTES + int(found[0]):
        raise InputError(
            "It cannot be used as a backup: The database file is damaged: its end is missing.",
            place=str(path),
            remedy=_ANOTHER,
        )


def _require_own(connection: DuckDBPyConnection, catalog: str, path: Path) -> None:
    """It must have the very tables that this version makes."""
    import duckdb

    tables = tables_of(connection, catalog)
    number = None
    if ("main", "schema_migrations") in tables and connection.execute(_NUMBER_COLUMN, [catalog]).fetchone() == (1,):
        found = connection.execute(_NUMBER.format(catalog=_quoted(catalog))).fetchone()
        number = found[0] if found else None
    if not isinstance(number, int) or number < 1:
        raise InputError("It is not a database of Dramaturg.", place=str(path), remedy=_ANOTHER)
    try:
        require_known(number, newest())
    except StoreError as error:
        raise InputError(str(error.message), place=str(path), remedy=error.remedy) from None
    with duckdb.connect(":memory:", config=CONFIG) as fresh:
        make_tables(fresh, ())
        least = _shape(fresh, _catalog(fresh))
        # The trash gets its tables when something is deleted that belongs into them.
        make_tables(fresh, {table for _, table in tables_of(fresh, _catalog(fresh))})
        if not least <= _shape(connection, catalog) <= _shape(fresh, _catalog(fresh)):
            raise InputError("Its tables are not those of Dramaturg.", place=str(path), remedy=_ANOTHER)


def _shape(connection: DuckDBPyConnection, catalog: str) -> set[tuple[object, ...]]:
    """Every table, its columns with types and defaults, and the names of views and macros."""
    columns = connection.execute(
        "SELECT schema_name, table_name, column_name, data_type, nullif(column_default, 'NULL') FROM duckdb_columns() "
        "WHERE database_name = ? AND NOT internal",
        [catalog],
    ).fetchall()
    views = connection.execute(
        "SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE database_name = ? AND NOT internal", [catalog]
    ).fetchall()
    macros = connection.execute(
        "SELECT function_name FROM duckdb_functions() WHERE database_name = ? AND NOT internal", [catalog]
    ).fetchall()
    return {*tables_of(connection, catalog), *columns, *views, *macros}


def _quoted(catalog: str) -> str:
    return f'"{quoted_name(catalog)}"'


def _info(connection: DuckDBPyConnection, catalog: str, place: str) -> BackupInfo:
    counts = connection.execute(_COUNTS.format(catalog=_quoted(catalog))).fetchone()
    assert counts is not None
    size = sum(path.stat().st_size for ending in ("", ".wal") if (path := Path(place + ending)).is_file())
    schema, transcripts, iterations, ratings = counts
    return BackupInfo(schema, transcripts, iterations, ratings, size)


def _unusable(path: Path, error: duckdb.Error) -> InputError:
    reason = str(duckdb_errors.explain(error, "").message)
    return InputError(f"It cannot be used as a backup: {reason}", place=str(path), remedy=_ANOTHER)


def _require_new(path: Path) -> None:
    require_storable(path=str(path))
    if path.exists():
        raise ConflictError("The file exists.", place=str(path), remedy="Choose another name.")
    if not path.parent.is_dir():
        raise InputError("There is no such folder.", place=str(path.parent), remedy="Create it first.")
