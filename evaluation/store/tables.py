"""Rows into and out of DuckDB in bulk: Arrow in, DataFrames out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

Columns = Mapping[str, Sequence[Any]]

_INCOMING = "incoming_rows"


def append(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    """Adds rows to ``table``, given column by column; columns left out get their defaults. Times are in UTC.

    Thousands of rows at a time cost microseconds each; ``executemany`` costs a millisecond.
    """
    import pyarrow as pa

    rows = pa.table({name: pa.array(values) for name, values in columns.items()})
    if rows.num_rows:
        cursor.register(_INCOMING, rows)
        try:
            cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM {_INCOMING}")
        finally:
            cursor.unregister(_INCOMING)


def next_numbers(cursor: DuckDBPyConnection, sequence: str, count: int) -> list[int]:
    """``count`` rising numbers that nobody else gets."""
    return [number for (number,) in cursor.execute(f"SELECT nextval('{sequence}') FROM range({count})").fetchall()]


def frame(
    cursor: DuckDBPyConnection, query: str, values: Sequence[object] = (), *, times: Sequence[str] = ()
) -> pd.DataFrame:
    """The answer to ``query`` as a table; the columns in ``times`` hold UTC without saying so, and come out with it."""
    table = cursor.execute(query, list(values)).df()
    for name in times:
        table[name] = table[name].dt.tz_localize("UTC")
    return table


def to_json(value: object) -> str | None:
    """JSON text for a JSON column; ``None`` for what is empty."""
    return json.dumps(value, ensure_ascii=False) if value else None


def from_json(text: str | None) -> Any:
    """What ``to_json`` packed, ``None`` for what was empty."""
    return None if text is None else json.loads(text)


def fitting(value: int | None, bits: int = 32) -> int | None:
    """``value`` if a signed column of that many bits holds it, else ``None``."""
    return value if value is not None and -(1 << bits - 1) <= value < 1 << bits - 1 else None
