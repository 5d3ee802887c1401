"""Make a file beside the place where it belongs, and leave nothing when the process that makes it is killed."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evaluation.errors import StoreError

_PREFIX = ".dramaturg-unfinished-"
_OLD_NAME = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{32}(\.wal)?")
"""Names of unfinished files of earlier versions, which no lock protects."""

_OLD_AGE_SECONDS = 3_600.0


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
        found = [entry for entry in path.parent.iterdir() if entry.name.startswith(".")]
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(_PREFIX):
            _remove_if_unlocked(entry)
        elif (match := _OLD_NAME.fullmatch(entry.name)) and match["name"] == path.name:
            with suppress(OSError):
                if time.time() - entry.stat().st_mtime > _OLD_AGE_SECONDS:
                    entry.unlink()


def _make_locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = parent / f"{_PREFIX}{uuid.uuid4().hex}"
        folder.mkdir(mode=0o700)
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
