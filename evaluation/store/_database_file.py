"""One database file of this process: open only while units of work run, shared by its threads, given up to others.

DuckDB lets one process hold a file, even for reading. So the file is opened when the first unit of work begins, stays
open for a moment after the last one ended (a page reads many times in a row), and is closed at once when another
process waits for it.
"""

from __future__ import annotations

import atexit
import fcntl
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import StoreBusyError, StoreError
from evaluation.store import _duckdb_errors
from evaluation.store._files import (
    Identity,
    create_database,
    identity_of,
    keep_beside,
    make_folder,
    moved,
    remove_abandoned,
    require_file,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def _turn_at(path: Path) -> int | None:
    """A descriptor of the file with the turn of this process at it; ``None`` while another process has the file.

    Closing any descriptor of a file drops DuckDB's lock on it. So take the turn before the file is opened, and let
    go of the descriptor after the file was closed. Where the file cannot be opened, the database tells why: -1 is none.
    """
    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass  # Some network file systems have no such locks; DuckDB's own remains.
    return descriptor


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


def _raise_flag(folder: Path) -> int:
    """A descriptor of the folder, locked to tell that this process waits; -1 where the folder cannot be opened."""
    descriptor = -1
    # A folder that cannot be locked (some network file systems) leaves the processes to the linger time alone.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _let_go(descriptor: int) -> None:
    if descriptor >= 0:
        # A child that was forked meanwhile holds the same lock until it ends, unless it is let go here.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


LINGER_SECONDS = 10.0
"""Time that the file stays open after the last unit of work, when nobody else waits for it.

Opening a large one takes a tenth of a second, which a person who reads a page between two clicks need not wait for.
"""

POLL_SECONDS = 0.02
"""Time that the file stays open after a unit of work while others wait for it, and how often it is seen whether they
do.
"""

TURN_SECONDS = 0.2
"""Time after which a busy process gives the file to those who wait."""

DRAIN_SECONDS = 0.05
"""Time that a new unit waits for the running ones to end, so that the file can be given up."""

REST_SECONDS = 0.025
"""Time that the file stays closed for those who wait."""

RETRY_SECONDS = 0.01
"""Pause before the next attempt to open a file that somebody else has open."""

_NEW_STORE = "Make a new Store in this one."


CONFIG: dict[str, str | bool | int | float | list[str]] = {"enable_external_access": False, "memory_limit": "500MB"}
"""Settings with which every database is opened.

Beyond the memory limit DuckDB goes to the disk; left alone it takes four fifths of the machine. Indexes stay in memory,
so that a database of a hundred thousand games fails with a fifth of the limit. No query of Dramaturg reads or writes
other files, so none that somebody has put into a file (as a view, a macro or a default) may do so.
"""


class ThreadState(threading.local):
    """Use of a file by the current thread: the cursor of its unit of work, whether it writes, and whether in bulk."""

    cursor: DuckDBPyConnection | None = None
    is_writing: bool = False
    is_doomed: bool = False
    is_in_bulk: bool = False


class DatabaseFile:
    """Counts who uses the file and opens, keeps and closes it accordingly. Safe for threads, not for forked children.

    Args:
        path: The file, resolved; ``None`` keeps everything in memory until ``close``.
        prepare: Called with every newly opened connection before anybody uses it.

    Attributes:
        place: The path as shown to people.
        thread: The current thread's unit of work.
    """

    def __init__(self, path: Path | None, prepare: Callable[[DuckDBPyConnection], None]) -> None:
        self.place = ":memory:" if path is None else str(path)
        self._path = path
        self._process = os.getpid()
        self._prepare = prepare
        self._writer = threading.Lock()
        self.thread = ThreadState()
        self._state = threading.Condition()
        self._connection: DuckDBPyConnection | None = None
        self._users = 0
        self._held_since = 0.0
        # Long ago by every clock: one that stands below zero must not make anybody wait for it.
        self._rest_until = -math.inf
        self._idle_since = 0.0
        self._is_closer_running = False
        self._must_close = False
        self._identity: Identity | None = None
        self._turn: int | None = None

    def checkpoint(self, cursor: DuckDBPyConnection) -> None:
        """Works the log into the file, so that nothing that is acknowledged from here on depends on the log.

        DuckDB takes a log whose end is missing for one that was being written, and opens the file with fewer rows. A
        file that has two names has two logs, of which each name finds one. Call after a transaction, before its caller
        goes on. While a thread writes in bulk, its transactions wait for the end of that.
        """
        import duckdb

        if self._path is None or self.thread.is_in_bulk:
            return
        try:
            cursor.execute("CHECKPOINT")
        except duckdb.Error:
            # What was committed is in the log, and goes into the file when it is opened again.
            with self._state:
                self._must_close = True
                self._state.notify_all()

    @contextmanager
    def written_in_bulk(self) -> Iterator[None]:
        """One checkpoint at the end of the block does for all that this thread writes in it."""
        was_in_bulk, self.thread.is_in_bulk = self.thread.is_in_bulk, True
        try:
            yield
        finally:
            self.thread.is_in_bulk = was_in_bulk
            with self._state:
                # A closed file has no log.
                if self._connection is not None and not was_in_bulk:
                    self.checkpoint(self._connection)

    def acquire(self, wait_seconds: float) -> DuckDBPyConnection:
        """A cursor of its own for one unit of work; give it back with ``release``.

        Raises:
            StoreBusyError: Another process held the file for all of ``wait_seconds``.
            StoreMovedError: The file is another one than before, or gone.
            StoreError: The file cannot be opened, or this is a forked child of the process that made the store.
        """
        if self._process != os.getpid():
            raise StoreError("This store was opened by the parent process.", place=self.place, remedy=_NEW_STORE)
        started = time.monotonic()
        with self._state:
            self._follow()
            self._give_way()
            if self._connection is None:
                self._connection = self._open(started, wait_seconds)
                self._held_since = time.monotonic()
            cursor = self._connection.cursor()
            self._users += 1
            return cursor

    def release(self, cursor: DuckDBPyConnection, *, is_broken: bool = False) -> None:
        """Ends a unit of work. ``is_broken``: the engine failed, so the file must be opened again."""
        with self._state:
            cursor.close()
            self._users -= 1
            self._must_close |= is_broken and self._path is not None
            if self._users == 0:
                self._idle_since = time.monotonic()
                if self._must_close or self._is_turn_over():
                    self._close()
                else:
                    self._close_later()
            self._state.notify_all()

    def close(self) -> None:
        """Closes the file now, unless a unit of work is running (which closes it when it ends).

        Whatever lies at its place when it is opened again is taken for the database.
        """
        with self._state:
            self._identity = None
            if self._users == 0:
                self._close()
            else:
                self._must_close = True

    def require_unmoved(self) -> None:
        """Refuse to write to a file that was moved or deleted: acknowledged rows would be lost.

        Raises:
            StoreMovedError: At the place of the file is another one, or none, since this process opened it.
        """
        if self._path is not None and not self._is_in_place():
            raise moved(self._path)

    @contextmanager
    def nobody_else_writes(self, wait_seconds: float) -> Iterator[None]:
        """Holds up every other thread that wants to write.

        Raises:
            StoreBusyError: Another thread was writing for all of ``wait_seconds``.
        """
        if not self._writer.acquire(timeout=wait_seconds):
            raise StoreBusyError(
                f"Another thread has been writing for {wait_seconds:g} s.",
                place=self.place,
                remedy="Try again when it is done.",
            )
        try:
            yield
        finally:
            self._writer.release()

    def _follow(self) -> None:
        """Turns to another file in this one's place, such as a backup that another process restored."""
        if self._path is None or self._is_in_place():
            return
        other = identity_of(self._path)
        is_free = self._state.wait_for(lambda: self._users == 0, timeout=DRAIN_SECONDS)
        if is_free:
            self._close()
        if other is None:
            raise moved(self._path)
        if not is_free:
            raise StoreBusyError("A backup was just restored.", place=self.place, remedy="Try again in a moment.")
        self._identity = other

    def _is_in_place(self) -> bool:
        return self._path is None or self._identity is None or identity_of(self._path) == self._identity

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a database in memory."""
        return self._path

    def replace(self, new: Path, kept: Path | None, wait_seconds: float) -> None:
        """Puts another database in this one's place in one step, when no process uses it.

        Args:
            new: The other database, in the same folder; its name is free afterwards.
            kept: Under which name the present one stays; ``None`` when there is none.
            wait_seconds: How long to wait for units of work of this process, and then for other processes.

        Raises:
            StoreBusyError: The file was in use all the time.
        """
        assert self._path is not None
        with self._state:
            if not self._state.wait_for(lambda: self._users == 0, timeout=wait_seconds):
                raise StoreBusyError("The database is in use.", place=self.place, remedy="Try again in a moment.")
            self._close()
            with self._held_alone(wait_seconds):
                if kept is not None:
                    keep_beside(self._path, kept)
                os.replace(new, self._path)
            self._identity = identity_of(self._path)

    @contextmanager
    def _held_alone(self, wait_seconds: float) -> Iterator[None]:
        """Keeps other processes out of the file, and its write-ahead log empty."""
        try:
            connection = self._connect(time.monotonic(), wait_seconds)
        except StoreBusyError:
            raise
        except StoreError:
            # Too damaged to be opened: nobody else can use it either.
            yield
            return
        try:
            connection.execute("CHECKPOINT")
            yield
        finally:
            connection.close()
            self._end_turn()

    def _give_way(self) -> None:
        if self._connection is not None and (self._must_close or self._is_turn_over()):
            self._state.wait_for(lambda: self._users == 0, timeout=DRAIN_SECONDS)
            self._held_since = time.monotonic()
            if self._users == 0:
                self._close()

    def _is_turn_over(self) -> bool:
        return time.monotonic() - self._held_since > TURN_SECONDS and self._somebody_waits()

    def _somebody_waits(self) -> bool:
        return self._path is not None and somebody_waits(self._path)

    def _open(self, started: float, wait_seconds: float) -> DuckDBPyConnection:
        time.sleep(max(0.0, self._rest_until - time.monotonic()))
        connection = self._connect(started, wait_seconds)
        with ExitStack() as failed:
            failed.callback(self._end_turn)
            failed.callback(connection.close)
            if self._path is not None:
                # Moved while it was being opened: whether that is the file that was opened, nobody can tell.
                self.require_unmoved()
                self._identity = identity_of(self._path)
            try:
                with _duckdb_errors.translated(self.place):
                    self._prepare(connection)
            except StoreError as error:
                # What prepares a connection does not know which file it is.
                error.place = error.place or self.place
                raise
            failed.pop_all()
        return connection

    def _end_turn(self) -> None:
        if self._turn is not None:
            _let_go(self._turn)
            self._turn = None

    def _connect(self, started: float, wait_seconds: float) -> DuckDBPyConnection:
        import duckdb

        if self._path is None:
            return duckdb.connect(":memory:", config=CONFIG)
        make_folder(self._path.parent)
        require_file(self._path)
        if self._identity is None:
            remove_abandoned(self._path)
            with _duckdb_errors.translated(self.place):
                create_database(self._path, CONFIG)
        elif not self._path.exists():
            # DuckDB would make an empty database there.
            raise moved(self._path)
        with ExitStack() as failed:
            failed.callback(self._end_turn)
            connection = self._wait_and_connect(self._path, started, wait_seconds)
            failed.pop_all()
        return connection

    def _wait_and_connect(self, path: Path, started: float, wait_seconds: float) -> DuckDBPyConnection:
        flag = -1
        try:
            while (connection := self._attempt(path, time.monotonic() - started, wait_seconds)) is None:
                flag = _raise_flag(path.parent) if flag < 0 else flag
                time.sleep(RETRY_SECONDS)
        finally:
            _let_go(flag)
        return connection

    def _attempt(self, path: Path, waited: float, wait_seconds: float) -> DuckDBPyConnection | None:
        """The connection; ``None`` while somebody else has the file. When the time is over, the engine tells who."""
        import duckdb

        if self._turn is None:
            self._turn = _turn_at(path)
        if self._turn is None and waited < wait_seconds:
            return None
        try:
            return duckdb.connect(self.place, config=CONFIG)
        except duckdb.Error as error:
            if not _duckdb_errors.is_held_elsewhere(error):
                raise _duckdb_errors.explain(error, self.place) from error
            if waited >= wait_seconds:
                raise _duckdb_errors.busy(error, self.place, waited) from error
        return None

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._end_turn()
            self._rest_until = time.monotonic() + (REST_SECONDS if self._somebody_waits() else 0.0)
        self._must_close = False

    def _close_later(self) -> None:
        if self._path is not None and not self._is_closer_running:
            self._is_closer_running = True
            threading.Thread(target=self._close_when_idle, name="store-closer", daemon=True).start()

    def _close_when_idle(self) -> None:
        with self._state:
            while self._connection is not None:
                if self._users:
                    self._state.wait()
                elif self._has_lingered():
                    self._close()
                else:
                    self._state.wait(timeout=POLL_SECONDS)
            self._is_closer_running = False

    def _has_lingered(self) -> bool:
        idle = time.monotonic() - self._idle_since
        return idle >= LINGER_SECONDS or (idle >= POLL_SECONDS and self._somebody_waits())


_files: dict[tuple[int, Path], DatabaseFile] = {}
_files_lock = threading.Lock()


def shared_file(path: Path, prepare: Callable[[DuckDBPyConnection], None]) -> DatabaseFile:
    """The one ``DatabaseFile`` that all stores of this process share for ``path`` (resolved).

    Two would fight for the file's lock, which belongs to the process. A forked child gets its own.
    """
    with _files_lock:
        if not _files:
            atexit.register(_close_all)
        return _files.setdefault((os.getpid(), path), DatabaseFile(path, prepare))


def _close_all() -> None:
    for (process, _), file in _files.items():
        if process == os.getpid():
            file.close()
