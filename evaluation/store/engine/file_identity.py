"""Identify the file at a database's path: whether it was replaced, and what a restore kept of it."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

from evaluation.errors import StoreError, StoreMovedError

Identity = tuple[int, int]
"""Device and number of a file: the same under all of its names, another one for a copy."""

_ANOTHER = "Choose another file with --db."
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_KEPT = "-before-restore-"


def identity_of(path: Path) -> Identity | None:
    """The identity of the file at the path; ``None`` when there is none that can be read."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def resolved(path: Path) -> Path:
    """The one spelling of a path, so that two do not become two files; links that go round in circles stay as given."""
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError):
        return path.expanduser().absolute()


def require_file(path: Path) -> None:
    """Call before a database is opened: DuckDB waits without end for somebody to write into a named pipe.

    Raises:
        StoreError: What lies there is neither file nor folder, or it cannot be looked at.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"The database file cannot be looked at: {error.strerror or error}.", place=str(path), remedy=_ANOTHER
        ) from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "something else than a file")
        raise StoreError(f"There is {kind} where the database file should be.", place=str(path), remedy=_ANOTHER)


def is_read_only(path: Path) -> bool:
    """Whether there is a database that may be read, but neither changed nor given a log beside it."""
    if not os.access(path, os.R_OK):
        return False
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK))


def moved(path: Path) -> StoreMovedError:
    """Says what became of a database that was opened at ``path``, and what to do about it."""
    if identity_of(path) is None:
        return StoreMovedError(
            "The database file was moved or deleted while it was in use; nothing was stored.",
            place=str(path),
            remedy="Put it back, or restore a backup; to begin with an empty database, restart Dramaturg.",
        )
    return StoreMovedError(
        "Another file lies where the database was while it was in use; nothing was stored.",
        place=str(path),
        remedy="Put the database back, or restart Dramaturg to use the file that lies there now.",
    )


def name_for_kept(place: Path) -> Path:
    """A name beside the database that nothing has yet: ``dramaturg-before-restore-20260131-120000.duckdb``."""
    base = f"{place.stem}{_KEPT}{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(kept for name in names if not (kept := place.with_name(name + place.suffix)).exists())


def is_kept_beside(place: Path, identity: Identity) -> bool:
    """Whether a restore at ``place`` has kept that file under another name."""
    try:
        beside = [path for path in place.parent.iterdir() if path.name.startswith(f"{place.stem}{_KEPT}")]
    except OSError:
        return False
    return any(identity_of(path) == identity for path in beside)
