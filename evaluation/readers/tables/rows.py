"""The rows of CSV, TSV, JSON, JSON Lines and Parquet tables, each with its place in the file, and their first rows.

Of Parquet only the plain columns: lists and structures in cells are passed over. Parquet packs a text that stands in
every row once, so a small file may unpack to anything. Texts are read as dictionaries, each distinct one made once,
and what the rows hold together is bounded before they become a table.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.errors import BrokenTranscriptError, InputError, LimitError, UnreadableFileError
from evaluation.escaping import cut
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document, first_record, records
from evaluation.readers.base.limits import Limits
from evaluation.readers.tables.columns import guess_mapping

if TYPE_CHECKING:
    import pyarrow as pa

_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(rf'"?sep=([{_DELIMITERS}])"?(?=\n)', re.IGNORECASE)
_LONGEST_HEADING = 60
ROWS_SHOWN = 5
_LONGEST_CELL = 200
_LONGEST_LINE = 100_000
_MAGIC = b"PAR1"
_ROWS_AT_ONCE = 2000
_QUOTE = 'Put a text that holds the separator or a line break into quotes ("), and double the quotes inside it.'


class TableRow(NamedTuple):
    """One row: where it stands ("line 7"), and its cells by column."""

    place: str
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """A table's columns and rows, in the file's order."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


def table_columns(document: Document) -> tuple[str, ...]:
    """The columns of the table that the text seems to be; none when it seems to be no table."""
    first = first_record(document)
    if first is not None:
        return tuple(first) if isinstance(first, dict) else ()
    return () if document.json_error else split_heading(document)[0]


def text_table(document: Document) -> ParsedTable:
    """The table in a text.

    Raises:
        InputError: A row is broken; says which.
    """
    return _json_table(document) if first_record(document) is not None else _delimited_table(document)


def _json_table(document: Document) -> ParsedTable:
    nodes = list(records(document))
    document.limits.check_rows(len(nodes))
    columns = dict.fromkeys(column for node in nodes for column in node.fields())
    return ParsedTable(tuple(columns), tuple(TableRow(node.path, node.fields()) for node in nodes))


def split_heading(document: Document) -> tuple[tuple[str, ...], str]:
    """The headings and the delimiter under which the most of them are known; no headings when the text is not a table.

    A first line such as ``sep=;``, as Excel writes and reads it, names the delimiter.
    """
    named = _NAMED_DELIMITER.match(document.text)
    beginning = delimited_text(document).lstrip("\n")
    candidates = []
    for delimiter in named.group(1) if named else _DELIMITERS:
        headings, second = _first_two(beginning, delimiter)
        mapping = guess_mapping(headings)
        # With both columns that are needed, a table is one even if its first row is broken.
        is_table = len(headings) > 1 and (len(headings) == len(second) or not mapping.missing)
        if is_table and all(map(_is_heading, headings)):
            candidates.append((len(mapping.used), len(headings), headings, delimiter))
    if not candidates:
        return (), ","
    _, _, headings, delimiter = max(candidates, key=lambda each: each[:2])
    return headings, delimiter


def delimited_text(document: Document) -> str:
    """The text with an empty line in the place of one that names the delimiter, so that lines keep their numbers."""
    named = _NAMED_DELIMITER.match(document.text)
    return document.text[named.end() :] if named else document.text


def _first_two(text: str, delimiter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # Only the beginning is looked at: a quote that nobody closes would make each guess read the whole file.
    lines = csv.reader(text[:100_000].split("\n")[:50], delimiter=delimiter)
    try:
        return tuple(cell.strip() for cell in next(lines, [])), tuple(next((line for line in lines if line), []))
    except csv.Error:
        return (), ()


def _is_heading(cell: str) -> bool:
    return 0 < len(cell) <= _LONGEST_HEADING and any(map(str.isalpha, cell)) and not cell.startswith(("<", "{", "["))


def _delimited_table(document: Document) -> ParsedTable:
    document.limits.check_lines(document.text)
    columns, delimiter = split_heading(document)
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise BrokenTranscriptError(
                f"The column {shorten(column)!r} occurs twice.", place="line 1", remedy="Give each its own name."
            )
        seen.add(column)
    numbered = _lines(document, delimiter)
    next(numbered)
    rows = tuple(_row(number, cells, columns) for number, cells in numbered)
    document.limits.check_rows(len(rows))
    return ParsedTable(columns, rows)


def _lines(document: Document, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records with the line that each begins in; quoted texts may go over several. Empty lines are passed over."""
    # str.splitlines would also end lines where Unicode does, which csv does not.
    reader = csv.reader(io.StringIO(delimited_text(document)), delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BrokenTranscriptError(
                f"The row cannot be read: {_reason(error)}.", place=f"line {number}", remedy=_QUOTE
            ) from None
        if cells:
            yield number, cells


def _reason(error: csv.Error) -> str:
    return "a quote in it is never closed" if "unexpected end of data" in str(error) else str(error)


def _row(number: int, cells: list[str], columns: tuple[str, ...]) -> TableRow:
    if len(cells) != len(columns):
        message = f"The row has {len(cells)} cells, the heading {len(columns)}."
        raise BrokenTranscriptError(message, place=f"line {number}", remedy=_QUOTE)
    return TableRow(f"line {number}", dict(zip(columns, cells, strict=True)))


def is_parquet(document: Document) -> bool:
    """Whether the file begins as a Parquet table does."""
    return document.data.startswith(_MAGIC)


def parquet_table(document: Document, most_rows: int | None = None) -> ParsedTable:
    """The table, or its first ``most_rows``.

    Raises:
        UnreadableFileError: It is damaged.
        LimitError: It has too many rows, or too much text.
        BrokenTranscriptError: Half of a surrogate pair, or a column twice.
    """
    import pyarrow as pa

    try:
        return _read(document.data, document.limits, most_rows)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, MemoryError) as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UnreadableFileError(
            f"The Parquet table is damaged: {reason.rstrip('.')}.", remedy="Export it again."
        ) from None


def _read(data: bytes, limits: Limits, most_rows: int | None) -> ParsedTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = pq.ParquetFile(pa.BufferReader(data))
    limits.check_rows(plain.metadata.num_rows)
    schema = plain.schema_arrow
    columns = [field.name for field in schema if not pa.types.is_nested(field.type)]
    if len(set(schema.names)) < len(schema.names):
        raise BrokenTranscriptError("Two columns have the same name.", remedy="Give each its own.")
    texts = [field.name for field in schema if _is_text(field.type)]
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    rows: list[TableRow] = []
    size = 0
    for batch in file.iter_batches(most_rows or _ROWS_AT_ONCE, columns=columns):
        # A damaged file may hold indices and offsets that point anywhere.
        batch.validate(full=True)
        cells = [list(_cells(batch.column(name), limits)) for name in columns]
        size += sum(len(cell) for column in cells for cell in column if isinstance(cell, str))
        if size > limits.file_bytes:
            raise LimitError(
                f"The table holds more than {limits.file_bytes:,} characters.", remedy="Split it into several."
            )
        limits.check_rows(len(rows) + batch.num_rows)
        for values in zip(*cells, strict=True):
            rows.append(TableRow(f"row {len(rows) + 1}", dict(zip(columns, values, strict=True))))
        if most_rows is not None:
            break
    return ParsedTable(tuple(columns), tuple(rows))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _cells(column: pa.Array, limits: Limits) -> Iterator[Any]:
    """The values of a column as Python's; equal texts are one object."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        values = [_plain(value, limits) for value in column.dictionary.to_pylist()]
        return (None if index is None else values[index] for index in column.indices.to_pylist())
    if pa.types.is_timestamp(column.type):
        # Python's times end at microseconds.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return (_plain(value, limits) for value in column.to_pylist())


def _plain(value: Any, limits: Limits) -> Any:
    if isinstance(value, bytes):
        # Texts stand in binary columns too; what is none there is no part of a transcript.
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if isinstance(value, str) and len(value) > limits.message_characters:
        raise LimitError(
            f"A cell holds {len(value):,} characters, more than {limits.message_characters:,}.",
            remedy="Check that the table keeps one message apart from the next.",
        )
    return value


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
        values = [_value(line) for line in islice(_written_lines(document.text), ROWS_SHOWN)]
    if all(isinstance(value, dict) for value in values) and _is_flat(values[0]):
        yield from values


def _written_lines(text: str) -> Iterator[str]:
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
