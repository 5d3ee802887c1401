"""Queue processes that share a database file: first come, first served.

DuckDB's own lock is either held or free and has no queue. So a process that wants the file takes a ticket: a lock on
one byte of the file's folder, at a higher offset the later it came. A process waits while a lower ticket exists, even
if the file is free. A waiting process holds a shared lock on the whole folder, so that the process which holds the file
can see it and close the file. The kernel releases all these locks when a process ends in any way.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
import zlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

LONGEST_PAUSE_SECONDS = 0.02
SHORTEST_PAUSE_SECONDS = 0.001

STALLED_SECONDS = 1.0
"""A file that nobody takes for so long is taken by those behind: whoever stands first was stopped."""

_NUMBER_BITS = 47
"""Room for the microseconds of four years since the machine started."""

_NAME_BITS = 15
_LOCK = struct.Struct("hhqqi4x")
"""The kernel's record of a lock: kind, whence, first byte, how many, process."""


class Turn:
    """One attempt to get the file, in the order of those who attempt it.

    The longer it has waited the more often it looks, so that who stands first is first to see the file free.

    Use it only while this process does not hold the file: closing any descriptor of a file drops the process's locks
    on it, and waiting opens and closes one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._flag: int | None = None
        self._ticket: _Ticket | None = None
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._ticket = _Ticket.take(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._ticket is not None:
            self._ticket.give_back()
        if self._flag is not None:
            # A child that was forked meanwhile holds the same lock until it ends, unless it is let go here.
            fcntl.flock(self._flag, fcntl.LOCK_UN)
            os.close(self._flag)

    def wait_behind_others(self, seconds: float) -> None:
        """Returns at once unless somebody came before; else as ``wait``."""
        if self._is_behind():
            self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Returns when the file looks free and nobody came before, or after ``seconds``."""
        if self._flag is None:
            self._flag = _raise_flag(self._path.parent)
        end = time.monotonic() + seconds
        free_since: float | None = None
        self._pause()
        while (now := time.monotonic()) < end:
            if _is_locked(self._path):
                free_since = None
            elif not self._is_behind():
                return
            elif free_since is None:
                free_since = now
            elif now - free_since > STALLED_SECONDS:
                return
            self._pause()

    def _is_behind(self) -> bool:
        return self._ticket is not None and self._ticket.is_behind()

    def _pause(self) -> None:
        waited = time.monotonic() - self._started
        time.sleep(max(SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS / (1 + 10 * waited)))


class _Ticket:
    """A place in the queue for one file of a folder; without any where the system has no such locks."""

    def __init__(self, folder: int, first: int, place: int) -> None:
        self._folder = folder
        self._first = first
        self._place = place

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """The place behind all who came before, told by the clock that all processes share and nobody can set."""
        if not hasattr(fcntl, "F_OFD_SETLK"):
            return None
        with suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            name = zlib.crc32(os.fsencode(path.name)) % (1 << _NAME_BITS)
            number = time.monotonic_ns() // 1000 % (1 << _NUMBER_BITS)
            made = cls(folder, name << _NUMBER_BITS, (name << _NUMBER_BITS) + number)
            if made._set(fcntl.F_RDLCK):
                return made
            os.close(folder)
        return None

    def is_behind(self) -> bool:
        """Whether somebody with an earlier ticket has not had the file yet."""
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, self._first, self._place - self._first, 0)
        try:
            answer = fcntl.fcntl(self._folder, fcntl.F_OFD_GETLK, asked)
        except OSError:
            return False
        return bool(_LOCK.unpack(answer)[0] != fcntl.F_UNLCK)

    def give_back(self) -> None:
        """Lets those behind move up."""
        self._set(fcntl.F_UNLCK)
        os.close(self._folder)

    def _set(self, kind: int) -> bool:
        with suppress(OSError):
            fcntl.fcntl(self._folder, fcntl.F_OFD_SETLK, _LOCK.pack(kind, os.SEEK_SET, self._place, 1, 0))
            return True
        return False


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
