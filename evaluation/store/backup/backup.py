"""Copy and restore the whole database: copied during use, checked before a restore, and never without a copy."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import ConflictError, InputError, NotFoundError, StoreError
from evaluation.store._jobs import Jobs
from evaluation.store.backup._integrity import faults_in
from evaluation.store.engine import duckdb_errors
from evaluation.store.engine.database_file import DatabaseFile
from evaluation.store.engine.file_identity import name_for_kept
from evaluation.store.engine.text_checks import require_storable
from evaluation.store.engine.transactions import Units
from evaluation.store.games.trash_tables import mirror
from evaluation.store.migrations import MIGRATIONS, migrate
from evaluation.text.display import counted

if TYPE_CHECKING:
    import duckdb
    from duckdb import DuckDBPyConnection

_ANOTHER = "Choose a file that Dramaturg wrote as a backup."
_HEADER_BYTES = 3 * 4096
"""What DuckDB writes before the first block."""

_COPY = "backup_copy"
_SOURCE = "backup_source"
_KEEP_FILE = "Keep a copy of the file itself, and go back to the latest backup that can be used."
_COUNTS = """
SELECT (SELECT max(number) FROM schema_migrations), (SELECT count(*) FROM transcripts),
       (SELECT count(*) FROM iterations), (SELECT count(*) FROM ratings)
"""
_MAIN_TABLES = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal"
_NUMBER = "SELECT max(number) FROM schema_migrations"
_TRASH_SINCE = 5
"""The migration that made room for what is deleted."""


@dataclass(frozen=True, slots=True)
class BackupInfo:
    """Contents of a database or a backup.

    Attributes:
        schema: The number of its latest migration; an older one is brought up to date when it is opened.
        size: Bytes of the file, with those of its log; 0 in memory.
    """

    schema: int
    transcripts: int
    iterations: int
    ratings: int
    size: int

    @property
    def words(self) -> str:
        """The contents in words: "21 transcripts, 4 iterations, 22 ratings"."""
        counts = ((self.transcripts, "transcript"), (self.iterations, "iteration"), (self.ratings, "rating"))
        return ", ".join(counted(count, noun) for count, noun in counts)


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
            return _info(cursor, self._file.place)

    def write(self, path: Path) -> BackupInfo:
        """Writes the database, as it stands between two changes, to a new file, and says what is in it.

        Raises:
            ConflictError: The file exists.
            InputError: Its folder does not exist, or UTF-8 cannot hold its name.
            StoreError: The disk is full, or the database cannot be read.
        """
        _require_new(path)
        with _unfinished(path) as copy:
            with self._units.unit() as cursor, self._file.nobody_else_writes(self._wait_seconds):
                _copy(cursor, copy, self._file.place, path)
            try:
                info = check_backup(copy)
            except InputError as error:
                # What was copied faithfully and cannot be used could not be used before either.
                raise StoreError(
                    f"The database cannot be backed up: {error.message}", place=self._file.place, remedy=_KEEP_FILE
                ) from error
            copy.replace(path)
        return info

    def restore(self, path: Path) -> Path | None:
        """Puts a backup in the place of the database, whose file stays beside it under another name.

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
        check_backup(path)
        kept = name_for_kept(place) if place.exists() else None
        self._require_no_job()
        place.parent.mkdir(parents=True, exist_ok=True)
        with _unfinished(place) as copy:
            _rewrite(path, copy)
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


def _copy(cursor: DuckDBPyConnection, target: Path, source_place: str, target_place: Path) -> None:
    """Copies the cursor's database to ``target``; an error names the one of the two places that it is about."""
    import duckdb

    found = cursor.execute("SELECT current_database()").fetchone()
    assert found is not None
    source = str(found[0]).replace('"', '""')
    try:
        # Also from a database that was opened for reading only.
        cursor.execute(f"ATTACH '{_quoted(target)}' AS {_COPY} (READ_WRITE)")
        try:
            cursor.execute(f'COPY FROM DATABASE "{source}" TO {_COPY}')
        finally:
            cursor.execute(f"DETACH {_COPY}")
    except duckdb.Error as error:
        raise duckdb_errors.explain(
            error, source_place if duckdb_errors.is_damage(error) else str(target_place)
        ) from error


def _rewrite(path: Path, target: Path) -> None:
    """Writes everything in the backup to a new file, so that whatever its own file has lost shows, indexes included."""
    import duckdb

    try:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{_quoted(path)}' AS {_SOURCE} (READ_ONLY)")
            connection.execute(f"ATTACH '{_quoted(target)}' AS {_COPY}")
            connection.execute("SET enable_external_access = false")
            connection.execute(f"COPY FROM DATABASE {_SOURCE} TO {_COPY}")
            connection.execute(f"DETACH {_COPY}")
    except duckdb.Error as error:
        if duckdb_errors.is_damage(error):
            raise _unusable(path, error) from None
        raise duckdb_errors.explain(error, str(target.parent)) from error


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def check_backup(path: Path) -> BackupInfo:
    """The contents of a backup, after every column of every table was read.

    Raises:
        NotFoundError: There is no such file.
        InputError: It is not a database, no database of Dramaturg, one of a newer version, or damaged; or UTF-8 cannot
            hold its name.
    """
    import duckdb

    require_storable(path=str(path))
    if not path.is_file():
        raise NotFoundError("There is no such file.", place=str(path), remedy="Check the path.")
    try:
        # Whatever somebody has put into it should not reach other files.
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as connection:
            _require_whole(connection, path)
            _require_own(connection, path)
            if fault := next(faults_in(connection), None):
                raise InputError(f"It cannot be used as a backup: {fault}", place=str(path), remedy=_ANOTHER)
            return _info(connection, str(path))
    except duckdb.Error as error:
        raise _unusable(path, error) from None


def _require_whole(connection: DuckDBPyConnection, path: Path) -> None:
    """Refuse a file that is shorter than its size says: the missing part may be an index that is read late."""
    found = connection.execute("SELECT block_size * total_blocks FROM pragma_database_size()").fetchone()
    if found and path.stat().st_size < _HEADER_BYTES + int(found[0]):
        raise InputError(
            "It cannot be used as a backup: The database file is damaged: its end is missing.",
            place=str(path),
            remedy=_ANOTHER,
        )


def _require_own(connection: DuckDBPyConnection, path: Path) -> None:
    """Its schema must have the very tables that this version makes with its number."""
    import duckdb

    tables = {table for (table,) in connection.execute(_MAIN_TABLES).fetchall()}
    found = connection.execute(_NUMBER).fetchone() if "schema_migrations" in tables else None
    number = found[0] if found else None
    if not isinstance(number, int) or number < 1:
        raise InputError("It is not a database of Dramaturg.", place=str(path), remedy=_ANOTHER)
    if number > len(MIGRATIONS):
        raise InputError(
            f"It has schema {number}; this version of Dramaturg knows {len(MIGRATIONS)}.",
            place=str(path),
            remedy="Update Dramaturg.",
        )
    with duckdb.connect(":memory:") as fresh:
        migrate(fresh, MIGRATIONS[:number])
        least = _shape(fresh)
        # The trash gets its tables when something is deleted that belongs into them.
        if number >= _TRASH_SINCE:
            mirror(fresh, [str(table) for (table,) in fresh.execute(_MAIN_TABLES).fetchall()])
        if not least <= _shape(connection) <= _shape(fresh):
            raise InputError("Its tables are not those of Dramaturg.", place=str(path), remedy=_ANOTHER)


def _shape(connection: DuckDBPyConnection) -> set[tuple[object, ...]]:
    """Every column of every table and view with its type and default, and every macro."""
    columns = connection.execute(
        "SELECT schema_name, table_name, column_name, data_type, nullif(column_default, 'NULL') FROM duckdb_columns() "
        "WHERE NOT internal"
    ).fetchall()
    views = connection.execute("SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    macros = connection.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
    return {*columns, *views, *macros}


def _info(connection: DuckDBPyConnection, place: str) -> BackupInfo:
    counts = connection.execute(_COUNTS).fetchone()
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


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A name beside ``path`` for a file in the making, which nothing is left of unless it was put somewhere."""
    copy = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        yield copy
    finally:
        for leftover in (copy, Path(f"{copy}.wal")):
            leftover.unlink(missing_ok=True)
