"""Write and read rows of DuckDB in bulk: Arrow in, DataFrames out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pydantic_core

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

Columns = dict[str, Sequence[Any]]
FEW_ROWS = 6_000


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """Rows of the same keys turned into columns."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for name, value in row.items():
            columns[name].append(value)
    return {**columns}


def append(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    """Adds rows to ``table``, given column by column; columns left out get their defaults. Times are in UTC.

    A row costs microseconds; with ``executemany`` it costs a millisecond. Up to some thousands, such as the ledgers of
    a batch of games, go in as lists: as quick, and neither Arrow nor pandas (which DuckDB loads to look at a registered
    object) take their 100 MB of memory.
    """
    count = max(map(len, columns.values()), default=0)
    if count > FEW_ROWS:
        import pyarrow as pa

        # The cursor holds on to them until the next rows or its end, whichever comes first: letting go costs a query.
        cursor.register("incoming_rows", pa.table({name: pa.array(values) for name, values in columns.items()}))
        cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming_rows")
    elif count:
        _append_lists(cursor, table, columns)


def insert_few(cursor: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds rows of the same keys, however many, without loading Arrow."""
    if rows:
        _append_lists(cursor, table, columns_of(rows))


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
