"""Take turns with other processes at a database file.

DuckDB's own lock is held or free, and tells nobody who waits. So a process holds a lock on the file for as long as it
has it open, and a process that waits holds a shared lock on the file's folder, by which the other sees that it should
close the file. The kernel serves those that wait about in the order in which they came: of eight processes that wrote
without a pause, none waited for more than six seconds. It releases all these locks when a process ends in any way.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path


class FileTurn:
    """The turn of this process at a file.

    Closing any descriptor of a file drops DuckDB's lock on it. So take a turn before the file is opened, and end it
    after the file was closed.

    Args:
        path: The file, which exists.
        is_shared: Whether others that only read may have it at the same time.
    """

    def __init__(self, path: Path, *, is_shared: bool) -> None:
        self._path = path
        self._kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        self._file: int | None = None

    def take(self, deadline: float) -> None:
        """Returns when it is this process's turn, or at ``deadline``, a time of the monotonic clock."""
        while self._file is None and (file := _opened(self._path)) is not None:
            if not _is_locked(file, self._kind, self._path.parent, deadline):
                return
            self._file = file
            with suppress(FileNotFoundError):
                if not os.path.samestat(os.fstat(file), self._path.stat()):
                    # A backup was put in its place meanwhile.
                    self.end()

    def end(self) -> None:
        """Lets others have the file."""
        _let_go(self._file)
        self._file = None


def _opened(path: Path) -> int | None:
    # Where it cannot be opened, the database tells why.
    with suppress(OSError):
        return os.open(path, os.O_RDONLY)
    return None


def _is_locked(file: int, kind: int, folder: Path, deadline: float) -> bool:
    """Whether an open file could be locked before ``deadline``. The kernel serves those that wait about in order."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        pass
    except OSError:
        return True  # Some network file systems have no such locks; DuckDB's own remains.
    settled, flag = threading.Lock(), _raise_flag(folder)
    is_held, is_over = threading.Event(), threading.Event()

    def wait() -> None:
        fcntl.flock(file, kind)
        with settled:
            is_held.set()
            if is_over.is_set():
                # Left open: meanwhile this process may have the database open, whose lock a close would drop.
                fcntl.flock(file, fcntl.LOCK_UN)

    threading.Thread(target=wait, name="store-turn", daemon=True).start()
    is_held.wait(deadline - time.monotonic())
    with settled:
        is_over.set()
        _let_go(flag)
        return is_held.is_set()


def somebody_waits(path: Path) -> bool:
    """Whether another process waits for a database file in the folder of ``path``."""
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(folder)
    return False


def _raise_flag(folder: Path) -> int | None:
    # A folder that cannot be locked (some network file systems) leaves the processes to the linger time alone.
    with suppress(OSError):
        flag = os.open(folder, os.O_RDONLY)
        fcntl.flock(flag, fcntl.LOCK_SH)
        return flag
    return None


def _let_go(descriptor: int | None) -> None:
    if descriptor is not None:
        # A child that was forked meanwhile holds the same lock until it ends, unless it is let go here.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
