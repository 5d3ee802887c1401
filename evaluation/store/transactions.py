"""Units of work, through which the repositories read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evaluation.errors import StoreBusyError, StoreError
from evaluation.store import _duckdb_errors
from evaluation.store._database_file import DatabaseFile

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.store.database import Store

_PATIENCE = 12
"""Further tries; each waits as long as the store does, ten seconds by default."""

Result = TypeVar("Result")
Values = Sequence[object] | Mapping[str, object]
"""What stands for the marks of a statement, by place or by name."""


def retry_while_busy(work: Callable[[], Result]) -> Result:
    """The result of ``work``, tried again while others write: paid work must not be lost to a busy moment.

    Raises:
        StoreBusyError: The store was busy for minutes.
    """
    for _ in range(_PATIENCE):
        try:
            return work()
        except StoreBusyError:
            continue
    return work()


class Units:
    """Hands out units of work on one database file.

    A reading unit inside another of the same thread uses its cursor. Writing units run one after the other within the
    process, each in a transaction: all of it is stored when it ends, or nothing when anything in it fails. Only a unit
    that says so joins the transaction of its thread.

    Args:
        file: The database file.
        wait_seconds: How long a unit waits while another process or thread holds the file.
        guard: Called before the outermost writing unit of a thread begins; what it raises stops the unit.
    """

    def __init__(self, file: DatabaseFile, wait_seconds: float, *, guard: Callable[[], None] | None = None) -> None:
        self._file = file
        self._wait_seconds = wait_seconds
        self._guard = guard

    def unguarded(self) -> Units:
        """Units on the same file without the guard: for what everybody who is let in may write."""
        return Units(self._file, self._wait_seconds)

    @contextmanager
    def unit(self, *, write: bool = False, join: bool = False) -> Iterator[DuckDBPyConnection]:
        """A cursor of this thread's own, valid until the unit ends.

        Args:
            write: Whether everything done in the unit is one transaction. Without it each statement stands alone.
            join: Whether a writing unit becomes a part of the transaction that its thread has begun, if any, and is
                stored or dropped with it. Repositories say so, as their callers may combine them.

        Raises:
            RuntimeError: The thread has begun a transaction, and the unit does not say that it joins.
            StoreBusyError: Another process held the file, or another thread wrote, for longer than the waiting time.
            NewerSchemaError: A newer Dramaturg wrote the file.
            StoreError: The file cannot be used.
        """
        thread = self._file.thread
        if write and self._guard is not None and not thread.is_writing:
            self._guard()
        with self._cursor() as cursor:
            if not write:
                yield cursor
            elif thread.is_writing:
                if not join:
                    raise RuntimeError("This thread has begun a transaction; say join=True to be a part of it.")
                is_done = False
                try:
                    yield cursor
                    is_done = True
                finally:
                    # Even if the caller goes on, half of what failed must not be stored with the rest.
                    thread.is_doomed |= not is_done
            else:
                with self._transaction(cursor):
                    yield cursor

    def rows(self, query: str, values: Values = ()) -> list[Any]:
        """All rows that a query finds, in a unit of its own."""
        with self.unit() as cursor:
            return cursor.execute(query, values or None).fetchall()

    def table(self, query: str, values: Values = (), *, times: Sequence[str] = ()) -> pd.DataFrame:
        """The same as a table; the columns in ``times`` hold UTC without saying so, and come out with it."""
        with self.unit() as cursor:
            table = cursor.execute(query, values or None).df()
        for name in times:
            table[name] = table[name].dt.tz_localize("UTC")
        return table

    def write(self, statement: str, values: Values = ()) -> list[Any]:
        """Runs one statement as a writing unit that joins; the rows that it returns."""
        with self.unit(write=True, join=True) as cursor:
            return cursor.execute(statement, values or None).fetchall()

    @contextmanager
    def nobody_else_writes(self) -> Iterator[None]:
        """Holds up every other thread that wants to write."""
        with self._file.nobody_else_writes(self._wait_seconds):
            yield

    def replace_file(self, new: Path, kept: Path | None) -> None:
        """Puts another database in this one's place when nobody uses it; see :meth:`DatabaseFile.replace`."""
        self._file.replace(new, kept, self._wait_seconds)

    def execute_in_turn(self, key: str, *statements: str) -> None:
        """Runs statements about one key, such as deletes of a row after those that refer to it.

        DuckDB has no cascading deletes, and sees a row as referenced until the transaction that deleted the reference
        has ended. So each statement is a transaction of its own: what is interrupted between two can be repeated.
        """
        for statement in statements:
            with self.unit(write=True) as cursor:
                cursor.execute(statement, [key])

    @contextmanager
    def written_in_bulk(self) -> Iterator[None]:
        """For an import of many games: one checkpoint at the end of the block does for all that this thread writes."""
        with self._file.written_in_bulk():
            yield

    @contextmanager
    def _cursor(self) -> Iterator[DuckDBPyConnection]:
        if self._file.thread.cursor is not None:
            yield self._file.thread.cursor
            return
        cursor = self._file.thread.cursor = self._file.acquire(self._wait_seconds)
        is_broken = False
        try:
            with _duckdb_errors.translated(self._file.place):
                yield cursor
        except StoreError:
            is_broken = True
            raise
        finally:
            self._file.thread.cursor = None
            self._file.release(cursor, is_broken=is_broken)

    @contextmanager
    def _transaction(self, cursor: DuckDBPyConnection) -> Iterator[None]:
        import duckdb

        file, is_done = self._file, False
        with file.nobody_else_writes(self._wait_seconds):
            file.thread.is_writing, file.thread.is_doomed = True, False
            try:
                cursor.begin()
                yield
                if file.thread.is_doomed:
                    raise StoreError("A part of the change failed, so nothing of it was stored.", place=file.place)
                file.require_unmoved()
                cursor.commit()
                is_done = True
                file.checkpoint(cursor)
            finally:
                if not is_done:
                    # An engine that failed has rolled back by itself and says so.
                    with suppress(duckdb.Error):
                        cursor.rollback()
                file.thread.is_writing = False


class UnitsPart:
    """A part of a store that needs its units of work alone."""

    def __init__(self, units: Units) -> None:
        self._units = units


class StorePart:
    """A part of a store that uses other parts of it, too."""

    def __init__(self, store: Store) -> None:
        self._store = store
