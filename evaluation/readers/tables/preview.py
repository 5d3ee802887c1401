"""The columns and first rows of a table, for a person who maps its columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evaluation.errors import InputError
from evaluation.escaping import cut
from evaluation.readers.base.document import Document, first_record
from evaluation.readers.tables._parquet import is_parquet, parquet_table
from evaluation.readers.tables._rows import delimited_text, split_heading
from evaluation.readers.tables.columns import ColumnMapping

ROWS_SHOWN = 5
_LONGEST_CELL = 200
_LONGEST_LINE = 100_000

ChooseColumns = Callable[[tuple[str, ...]], ColumnMapping | None]
"""Asked for the mapping of a table by its columns (those of its first rows); ``None`` leaves it to their names."""


@dataclass(frozen=True, slots=True)
class TableHead:
    """The part of a table that a person sees when choosing its columns.

    Attributes:
        columns: Their names, each once, in the file's order.
        rows: The cells of the first rows as text, as many as there are columns, long ones cut.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_head(document: Document) -> TableHead | None:
    """The first rows of a possible table of messages; ``None`` for other content, or too much damage to choose from.

    A table is two columns or more with names of their own, and one row at least that has as many cells.
    """
    try:
        rows = list(_first_rows(document))
    except (InputError, csv.Error):
        return None
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    if len(columns) < 2 or not all(column.strip() for column in columns):
        return None
    return TableHead(columns, tuple(tuple(_shown(row.get(column)) for column in columns) for row in rows))


def _first_rows(document: Document) -> Iterator[Mapping[str, Any]]:
    if is_parquet(document):
        return (row.cells for row in parquet_table(document, most_rows=ROWS_SHOWN).rows)
    if isinstance(document.json, dict):
        # One object is not a table, even where all that it holds is plain.
        return iter(())
    if first_record(document) is not None:
        return _json_rows(document)
    return _text_rows(document)


def _json_rows(document: Document) -> Iterator[Mapping[str, Any]]:
    values: Sequence[Any]
    if isinstance(document.json, list):
        values = document.json[:ROWS_SHOWN]
    else:
        values = [_value(line) for line in islice(_lines(document.text), ROWS_SHOWN)]
    if all(isinstance(value, dict) for value in values) and _is_flat(values[0]):
        yield from values


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if line := text[start:end].strip():
            yield line
        start = end + 1


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_flat(record: Mapping[str, Any]) -> bool:
    return not any(isinstance(value, dict | list) for value in record.values())


def _text_rows(document: Document) -> Iterator[Mapping[str, Any]]:
    columns, delimiter = split_heading(document)
    if len(set(columns)) < len(columns):
        return
    # A quote that nobody closes would run to the end of the file: only its beginning is looked at.
    beginning = delimited_text(document).lstrip("\n")[:_LONGEST_LINE].split("\n")[:50]
    rows = (cells for cells in csv.reader(beginning, delimiter=delimiter) if cells)
    next(rows, None)
    for cells in islice(rows, ROWS_SHOWN):
        if len(cells) == len(columns):
            yield dict(zip(columns, cells, strict=True))


def _shown(value: object) -> str:
    if value is None or isinstance(value, dict | list):
        return "" if value is None else "…"
    text = value if isinstance(value, str) else str(value)
    return cut(text, _LONGEST_CELL)
