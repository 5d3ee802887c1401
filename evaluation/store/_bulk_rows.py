"""Values on their way into the database and back: rows in bulk, DataFrames, JSON, times, and text that people typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic_core

from evaluation.errors import InputError
from evaluation.escaping import lone_surrogate

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection


Columns = dict[str, Sequence[Any]]
Item = TypeVar("Item")
ROWS_AT_ONCE = 6_000
_ENOUGH_FOR_ARRAYS = 50
_DTYPES = {int: "int64", float: "float64", bool: "bool"}
_INCOMING = "incoming_rows"


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """Rows of the same keys turned into columns."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for name, value in row.items():
            columns[name].append(value)
    return {**columns}


def append(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    """Adds rows to ``table``, given column by column; columns left out get their defaults. Times are in UTC.

    A row costs microseconds; with ``executemany`` it costs a millisecond. Some thousands go in at a time. Columns of
    text, numbers or truth values go in as arrays, which DuckDB reads where they lie in a fifth of the time that lists
    take; Arrow's tables (with pandas, which DuckDB loads to look at them) take 100 MB of memory and keep some of it.

    Raises:
        ValueError: The columns are not equally long.
    """
    counts = {len(values) for values in columns.values()} or {0}
    if len(counts) > 1:
        raise ValueError(f"columns of {sorted(counts)} rows for {table}")
    (count,) = counts
    for start in range(0, count, ROWS_AT_ONCE):
        _append_some(cursor, table, {name: values[start : start + ROWS_AT_ONCE] for name, values in columns.items()})


def append_rows(cursor: DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Adds rows of the same keys, made as they are needed where ``rows`` is an iterator."""
    for some in in_parts(rows):
        append(cursor, table, columns_of(some))


def in_parts(rows: Iterable[Item]) -> Iterator[list[Item]]:
    """The rows in lists of as many as :func:`append` gives to the database at a time.

    The last one may be shorter.
    """
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        yield some


def _append_some(cursor: DuckDBPyConnection, table: str, columns: Columns) -> None:
    arrays = {name: array for name, values in columns.items() if (array := _array(values)) is not None}
    lists = {name: list(values) for name, values in columns.items() if name not in arrays}
    sources = []
    if arrays:
        # A query of before, of whose rows some were not read, would stand in the way.
        cursor.complete()
        cursor.register(_INCOMING, arrays)
        sources.append(_INCOMING)
    if lists:
        # One list a column: DuckDB plans that in half the time that it takes for one value a cell.
        sources.append(f"(SELECT {', '.join(f'unnest(?) AS {name}' for name in lists)})")
    names = ", ".join(columns)
    query = f"INSERT INTO {table} ({names}) SELECT {names} FROM {' POSITIONAL JOIN '.join(sources)}"
    cursor.execute(query, list(lists.values()))
    if arrays:
        # Where the query fails, the transaction that is then rolled back takes the view with it.
        cursor.unregister(_INCOMING)


def _array(values: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """The column as an array; ``None`` where an array would hold something else, or where few values do not pay."""
    if len(values) < _ENOUGH_FOR_ARRAYS:
        return None
    import numpy as np

    kinds = set(map(type, values))
    has_gaps = type(None) in kinds
    kinds.discard(type(None))
    if kinds <= {str}:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    kind = kinds.pop()
    if kinds or kind not in _DTYPES:
        return None
    filled = [kind() if value is None else value for value in values] if has_gaps else values
    try:
        array = np.array(filled, dtype=_DTYPES[kind])
    except OverflowError:
        return None
    # DuckDB takes not-a-number in an array for a gap.
    if kind is float and np.isnan(array).any():
        return None
    return np.ma.MaskedArray(array, mask=[value is None for value in values]) if has_gaps else array


def next_numbers(cursor: DuckDBPyConnection, sequence: str, count: int) -> list[int]:
    """``count`` rising numbers that nobody else gets."""
    return [number for (number,) in cursor.execute(f"SELECT nextval('{sequence}') FROM range({count})").fetchall()]


def picked(one: object, *names: str) -> dict[str, Any]:
    """The values of these attributes, by their names."""
    return {name: getattr(one, name) for name in names}


def by_name(cursor: DuckDBPyConnection) -> list[dict[str, Any]]:
    """The rows that a query found, as values by the names of its columns."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


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


def require_text(**fields: str) -> None:
    """Raises ``InputError`` for a field that is blank or that UTF-8 cannot hold."""
    for name, text in fields.items():
        if not text.strip():
            raise InputError("It is empty.", place=name, remedy="Say it in a few words.")
    require_storable(**fields)


def require_storable(**fields: str) -> None:
    """Raises ``InputError`` for a field that UTF-8 cannot hold (lone surrogates, from broken command lines)."""
    for name, text in fields.items():
        if lone_surrogate(text) is not None:
            raise InputError("The text holds a lone surrogate.", place=name, remedy="Type it again.")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_microseconds(value: int) -> datetime:
    """The time that ``epoch_us(column)`` gives."""
    return _EPOCH + timedelta(microseconds=value)


def microseconds(value: datetime) -> int:
    """The microseconds that ``epoch_us(column)`` gives for a time with a zone."""
    return (value - _EPOCH) // timedelta(microseconds=1)


def maybe_from_microseconds(value: int | None) -> datetime | None:
    """The same for a column that may be empty."""
    return None if value is None else from_microseconds(value)


def to_utc(value: datetime | None) -> datetime | None:
    """``value`` in UTC, one without a zone taken as UTC; ``None`` when that leaves the calendar's years 1 to 9999."""
    if value is None:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None
