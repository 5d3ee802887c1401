"""Identify the file at a database's path, and make new files beside it that never stand there half done."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.errors import StoreError, StoreMovedError

Identity = tuple[int, int]
"""Device and number of a file: the same under all of its names, another one for a copy."""

_ANOTHER = "Use --db to choose another file."


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
        raise StoreError("There is no file but a pipe or device.", place=str(path), remedy=_ANOTHER)


def moved(path: Path) -> StoreMovedError:
    """Says what became of a database that was opened at ``path``, and what to do about it."""
    return StoreMovedError(
        "The database file was moved or deleted while it was in use; nothing was stored.",
        place=str(path),
        remedy="Put it back, or restore a backup; to begin with an empty database, restart Dramaturg.",
    )


def name_for_kept(place: Path) -> Path:
    """A name beside the database that nothing has yet: ``dramaturg-before-restore-20260131-120000.duckdb``."""
    base = f"{place.stem}-before-restore-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [base, *(f"{base}-{number}" for number in range(2, 1000))]
    return next(kept for name in names if not (kept := place.with_name(name + place.suffix)).exists())


PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""Modes of what Dramaturg makes itself: games and ratings are nobody else's business on this machine."""

_PREFIX = ".dramaturg-unfinished-"


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A path for a file in the making that is moved to ``path`` when it is done; both lie in one file system.

    The file stands in a hidden folder that is locked while the block runs and deleted after it, with whatever the
    engine put beside the file. The kernel drops the lock of a process that was killed, so ``remove_abandoned`` can
    tell such a folder from one in use.

    Raises:
        StoreError: Nothing can be made in the folder of ``path``.
    """
    remove_abandoned(path)
    try:
        folder, lock = _make_locked_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"The file cannot be opened or made there: {reason}.", place=str(path), remedy="Choose another place."
        ) from error
    try:
        yield folder / path.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # A child that was forked meanwhile holds the same lock until it ends, unless it is released here.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def remove_abandoned(path: Path) -> None:
    """Deletes files that killed processes left unfinished in the folder of ``path``; those being made stay."""
    try:
        found = [entry for entry in path.parent.iterdir() if entry.name.startswith(_PREFIX)]
    except OSError:
        return
    for entry in found:
        _remove_if_unlocked(entry)


def _make_locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = parent / f"{_PREFIX}{uuid.uuid4().hex}"
        folder.mkdir(mode=PRIVATE_FOLDER)
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # Another process took it for an abandoned one before it was locked.
        # A file system without such locks leaves abandoned folders lying.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)


def _remove_if_unlocked(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def make_folder(folder: Path) -> None:
    """Makes the folder of a database, with those above it, for this user only; one that exists stays as it is.

    Raises:
        StoreError: It cannot be made.
    """
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"The folder cannot be made: {reason}.", place=str(folder), remedy="Choose another place with --db."
        ) from error


def keep_beside(path: Path, kept: Path) -> None:
    """Gives a database a second name; a log that could not be worked into it goes along."""
    try:
        os.link(path, kept)
    except OSError:
        # A file system without links: for an instant there is no database.
        path.rename(kept)
    log = Path(f"{path}.wal")
    if log.exists():
        log.rename(f"{kept}.wal")


def create_database(path: Path, config: dict[str, Any]) -> None:
    """Makes an empty database in one step: nobody ever finds half a file, whoever is killed or comes second."""
    import duckdb

    if path.exists():
        return
    with unfinished(path) as made:
        duckdb.connect(str(made), config=config).close()
        made.chmod(PRIVATE_FILE)
        # A file that is there by now was made by another process. A file system without links leaves it to DuckDB.
        with suppress(OSError):
            os.link(made, path)
