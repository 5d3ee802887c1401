"""Write and read rows of DuckDB in bulk: lists in, DataFrames out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic_core

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

Columns = dict[str, Sequence[Any]]
Item = TypeVar("Item")
ROWS_AT_ONCE = 6_000


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """Rows of the same keys turned into columns."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for name, value in row.items():
            columns[name].append(value)
    return {**columns}


def append(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    """Adds rows to ``table``, given column by column; columns left out get their defaults. Times are in UTC.

    A row costs microseconds; with ``executemany`` it costs a millisecond. The rows go in as lists, some thousands at a
    time: as quick as Arrow, whose tables (with pandas, which DuckDB loads to look at them) take 100 MB of memory and
    keep some of it.
    """
    count = max(map(len, columns.values()), default=0)
    for start in range(0, count, ROWS_AT_ONCE):
        _append_lists(cursor, table, {name: values[start : start + ROWS_AT_ONCE] for name, values in columns.items()})


def append_rows(cursor: DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Adds rows of the same keys, made as they are needed where ``rows`` is an iterator."""
    for some in in_parts(rows):
        append(cursor, table, columns_of(some))


def in_parts(rows: Iterable[Item], size: int = ROWS_AT_ONCE) -> Iterator[list[Item]]:
    """The rows in lists of ``size``, by default as many as :func:`append` gives to the database at a time.

    The last one may be shorter.
    """
    left = iter(rows)
    while some := list(islice(left, size)):
        yield some


def _append_lists(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    """One list a column: DuckDB plans that in half the time that it takes for one value a cell."""
    values = ", ".join(["unnest(?)"] * len(columns))
    lists = [list(column) for column in columns.values()]
    cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values}", lists)


def next_numbers(cursor: DuckDBPyConnection, sequence: str, count: int) -> list[int]:
    """``count`` rising numbers that nobody else gets."""
    return [number for (number,) in cursor.execute(f"SELECT nextval('{sequence}') FROM range({count})").fetchall()]


def frame(
    cursor: DuckDBPyConnection, query: str, values: Mapping[str, object], *, times: Sequence[str] = ()
) -> pd.DataFrame:
    """The answer to ``query`` as a table; the columns in ``times`` hold UTC without saying so, and come out with it."""
    table = cursor.execute(query, dict(values)).df()
    for name in times:
        table[name] = table[name].dt.tz_localize("UTC")
    return table


def marks(values: Sequence[object]) -> str:
    """Placeholders for an IN list: with each value on its own an index is used; with a list of them it is not."""
    return ", ".join("?" * len(values)) or "NULL"


def numbers(values: Iterable[int]) -> str:
    """Integers for an IN list: written out they let a scan skip blocks; a list passed as a value does not."""
    return ", ".join(str(int(value)) for value in values) or "NULL"


def to_json(value: object) -> str | None:
    """JSON text for a JSON column, numbers that JSON has no word for as null; ``None`` for what is empty."""
    return packed(value).decode("utf-8") if value else None


def packed(value: object) -> bytes:
    """JSON, several times faster than the standard library makes it: a ledger has hundreds of small values."""
    return pydantic_core.to_json(value, inf_nan_mode="null")


def from_json(text: str | None) -> Any:
    """The value that ``to_json`` packed, ``None`` for an empty one."""
    return None if text is None else pydantic_core.from_json(text)


def fitting(value: int | None, bits: int = 32) -> int | None:
    """``value`` if a signed column of that many bits holds it, else ``None``."""
    return value if value is not None and -(1 << bits - 1) <= value < 1 << bits - 1 else None
