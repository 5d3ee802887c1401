"""How processes that share a database file take turns.

DuckDB's own lock says only yes or no. A process that waits therefore also holds a shared lock on the file's folder, so
that the one holding the file can see it and let go. The kernel drops both when a process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

LONGEST_PAUSE_SECONDS = 0.02
SHORTEST_PAUSE_SECONDS = 0.001


class Turn:
    """One attempt to get the file; ``wait`` makes it known and blocks until the file looks free.

    The longer it has waited the more often it looks, so that who came first is first to see the file free.

    Use it only while this process does not hold the file: closing any descriptor of a file drops the process's locks
    on it, and ``wait`` opens and closes one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._flag: int | None = None
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._flag is not None:
            os.close(self._flag)

    def wait(self, seconds: float) -> None:
        """Returns when the file looks free, or after ``seconds``."""
        if self._flag is None:
            self._flag = _raise_flag(self._path.parent)
        end = time.monotonic() + seconds
        self._pause()
        while time.monotonic() < end and _is_locked(self._path):
            self._pause()

    def _pause(self) -> None:
        waited = time.monotonic() - self._started
        time.sleep(max(SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS / (1 + 10 * waited)))


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


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False  # The attempt to open it will tell why.
    try:
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
