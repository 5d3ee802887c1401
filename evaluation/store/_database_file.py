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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.errors import StoreBusyError, StoreError, StoreReadOnlyError
from evaluation.store import duckdb_errors
from evaluation.store._files import (
    Identity,
    create_database,
    identity_of,
    is_kept_beside,
    is_read_only,
    keep_beside,
    make_folder,
    moved,
    remove_abandoned,
    require_file,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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


LINGER_SECONDS = 10.0
"""Time that the file stays open after the last unit of work, when nobody else waits for it.

Opening a large one takes a tenth of a second, which a person who reads a page between two clicks need not wait for.
"""

ATTENTIVE_SECONDS = 0.5
"""Poll for waiting processes every ``MIN_HOLD_SECONDS`` for this long after the last unit of work."""

IDLE_POLL_SECONDS = 0.05
"""Polling interval after that."""

TURN_SECONDS = 0.2
"""Time after which a busy process gives the file to those who wait."""

MIN_HOLD_SECONDS = 0.005
"""Time that the file stays open between two units of work while others wait for it."""

DRAIN_SECONDS = 0.05
"""Time that a new unit waits for the running ones to end, so that the file can be given up."""

REST_SECONDS = 0.025
"""Time that the file stays closed for those who wait; they look at least every 20 ms."""


RETRY_SECONDS = 0.02
"""Pause before the next attempt to open a file that another program than Dramaturg has open."""

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
        self._claim: Identity | None = None
        self._turn: FileTurn | None = None
        self._is_read_only = False

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
            self._follow_restore()
            self.require_unmoved()
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
        if self._path is None or self._identity is None or identity_of(self._path) == self._identity:
            return
        with self._state:
            if self._users == 0:
                self._close()
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

    def require_writable(self) -> None:
        """Call before anything is written while the file is open.

        Raises:
            StoreReadOnlyError: The file or its folder may only be read.
        """
        if self._is_read_only:
            raise StoreReadOnlyError(
                "The database may only be read there; nothing was stored.",
                place=self.place,
                remedy="Copy it to a place where you may write, and name that with --db.",
            )

    def _follow_restore(self) -> None:
        """A restore in another process leaves the file of before under another name, and is meant to be followed."""
        if self._path is None or self._identity is None or identity_of(self._path) == self._identity:
            return
        if not self._path.exists() or not is_kept_beside(self._path, self._identity):
            return
        if not self._state.wait_for(lambda: self._users == 0, timeout=DRAIN_SECONDS):
            raise StoreBusyError("A backup was just restored.", place=self.place, remedy="Try again in a moment.")
        self._close()
        self._identity = None

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
            self._release_claim()

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
        is_ready = False
        try:
            self._remember()
            with duckdb_errors.translated(self.place):
                self._prepare(connection)
            is_ready = True
        except StoreError as error:
            # What prepares a connection does not know which file it is.
            error.place = error.place or self.place
            raise
        finally:
            if not is_ready:
                connection.close()
                self._release_claim()
        return connection

    def _claim_file(self) -> None:
        """Refuse a file that this process has open under another name: the lock on it keeps out other processes only.

        Raises:
            StoreError: Another ``DatabaseFile`` of this process holds the same file.
        """
        assert self._path is not None
        if (identity := identity_of(self._path)) is None:
            return
        with _files_lock:
            holder = _open_files.setdefault((os.getpid(), *identity), self._path)
        if holder != self._path:
            raise StoreError(
                f"The file is open under another name, {holder}; nothing was stored.",
                place=self.place,
                remedy="Use one of its names, and delete the other.",
            )
        self._claim = identity

    def _release_claim(self) -> None:
        if self._turn is not None:
            self._turn.end()
            self._turn = None
        if self._claim is not None:
            with _files_lock:
                _open_files.pop((os.getpid(), *self._claim), None)
            self._claim = None

    def _remember(self) -> None:
        if self._path is not None:
            # Moved while it was being opened: whether that is the file that was opened, nobody can tell.
            self.require_unmoved()
            self._identity = identity_of(self._path)

    def _connect(self, started: float, wait_seconds: float) -> DuckDBPyConnection:
        import duckdb

        if self._path is None:
            return duckdb.connect(":memory:", config=CONFIG)
        make_folder(self._path.parent)
        require_file(self._path)
        self._is_read_only = is_read_only(self._path)
        if self._identity is None:
            remove_abandoned(self._path)
            with duckdb_errors.translated(self.place):
                create_database(self._path, CONFIG)
        elif not self._path.exists():
            # DuckDB would make an empty database there.
            raise moved(self._path)
        self._claim_file()
        is_open = False
        try:
            connection = self._wait_and_connect(started, wait_seconds)
            is_open = True
        finally:
            if not is_open:
                self._release_claim()
        return connection

    def _wait_and_connect(self, started: float, wait_seconds: float) -> DuckDBPyConnection:
        import duckdb

        assert self._path is not None
        self._turn = FileTurn(self._path, is_shared=self._is_read_only)
        while True:
            # When the time is over, the attempt to open the file tells who holds it.
            self._turn.take(started + wait_seconds)
            try:
                return duckdb.connect(self.place, read_only=self._is_read_only, config=CONFIG)
            except duckdb.Error as error:
                waited = time.monotonic() - started
                if not duckdb_errors.is_held_elsewhere(error):
                    raise duckdb_errors.explain(error, self.place) from error
                if waited >= wait_seconds:
                    raise duckdb_errors.busy(error, self.place, waited) from error
            # Another program than Dramaturg has it open.
            time.sleep(RETRY_SECONDS)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._release_claim()
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
                    is_early = time.monotonic() - self._idle_since < ATTENTIVE_SECONDS
                    self._state.wait(timeout=MIN_HOLD_SECONDS if is_early else IDLE_POLL_SECONDS)
            self._is_closer_running = False

    def _has_lingered(self) -> bool:
        idle = time.monotonic() - self._idle_since
        return idle >= LINGER_SECONDS or (idle >= MIN_HOLD_SECONDS and self._somebody_waits())


_files: dict[tuple[int, Path], DatabaseFile] = {}
_files_lock = threading.Lock()
_open_files: dict[tuple[int, int, int], Path] = {}
"""By process and identity: the name under which this process has a file open."""


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
