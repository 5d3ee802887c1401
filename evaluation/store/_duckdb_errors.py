"""Translate errors of DuckDB into Dramaturg's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import NewerSchemaError, StoreBusyError, StoreError

if TYPE_CHECKING:
    import duckdb

LONGEST_COMMAND = 80

_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.*?) ?\(PID (?P<pid>\d+)\)")
_BACKUP = "Restore a backup, or move the file away to start again."
_MOVE_LOG = (
    "Keep a copy of both files, then move the .wal file away: what was reported as saved is in the database itself. "
    "Restoring a backup helps too."
)
_DAMAGE = ("Corrupt database file", "Could not read enough bytes", "not a valid DuckDB database", "INTERNAL Error")
_EXPLANATIONS = (
    ("not a valid DuckDB database", "The file is not a DuckDB database.", "Use --db to choose another file."),
    ("Cannot launch in-memory database", "The file is not a DuckDB database.", "Use --db to choose another file."),
    # What DuckDB says of a file of another engine's that an extension could read.
    (
        "Loading external extensions is disabled",
        "The file is not a DuckDB database.",
        "Use --db to choose another file.",
    ),
    ("newer version of DuckDB", "The file was written by a newer DuckDB.", "Update Dramaturg."),
    ("Is a directory", "There is a folder where the database file should be.", "Use --db to choose another file."),
    ("Permission denied", "The database file may not be read and written.", "Change its rights or use --db."),
    ("Cannot open file", "The database file cannot be opened or made there.", "Use --db to choose another place."),
    ("No space left", "The disk is full; the last change was not stored.", "Free some space and try again."),
    ("File too large", "The disk takes no more; the last change was not stored.", "Free some space and try again."),
    ("WAL does not match", "The .wal file beside the database belongs to another one.", "Move the .wal file away."),
    ("replaying WAL", "The log beside the database (its name ends in .wal) is damaged.", _MOVE_LOG),
    ("Corrupt database file", "The database file is damaged.", _BACKUP),
    ("Could not read enough bytes", "The database file is damaged: its end is missing.", _BACKUP),
)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turns failures of the database into ``StoreError``; faults in our own SQL pass unchanged.

    Raises:
        StoreError: The disk, the file or the database engine failed.
    """
    import duckdb

    try:
        yield
    except (duckdb.ProgrammingError, duckdb.DataError, duckdb.IntegrityError, duckdb.NotSupportedError):
        raise
    except duckdb.Error as error:
        raise explain(error, place) from error


def row_faults() -> tuple[type[Exception], ...]:
    """The errors by which a healthy database refuses rows: a text, a number or a key that it cannot take."""
    import duckdb

    return (duckdb.DataError, duckdb.IntegrityError, UnicodeError, OverflowError)


def explain(error: duckdb.Error, place: str) -> StoreError:
    """The ``StoreError`` that tells a person what ``error`` means for the database at ``place``."""
    import duckdb

    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(
            "The database needs more memory than it may use; the last change was not stored.",
            place=place,
            remedy="Store less at once, or free some disk space, where it puts what does not fit.",
        )
    for sign, message, remedy in _EXPLANATIONS:
        if sign in text:
            kind = NewerSchemaError if "newer" in sign else StoreError
            return kind(message, place=place, remedy=remedy)
    first_line = text.partition("\n")[0].removesuffix(".")
    return StoreError(f"The database failed: {first_line}.", place=place, remedy="Try again.")


def is_damage(error: duckdb.Error) -> bool:
    """Whether ``error`` says that what was read is damaged, and not that something could not be written."""
    return any(sign in str(error) for sign in _DAMAGE)


def is_held_elsewhere(error: duckdb.Error) -> bool:
    """Whether ``error`` says that another process holds the file."""
    return "Could not set lock on file" in str(error)


def busy(error: duckdb.Error, place: str, waited: float) -> StoreBusyError:
    """Names the process that holds the file, with its command line where the system tells it."""
    found = _HOLDER.search(str(error))
    holder = "another process" if found is None else _describe(int(found["pid"]), found["program"])
    return StoreBusyError(
        f"The database is held by {holder}; waited {waited:.1f} s.", place=place, remedy="Try again when it is done."
    )


def _describe(pid: int, program: str) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        command = ""
    return f"process {pid} ({' '.join((command or program).split())[:LONGEST_COMMAND]})"
