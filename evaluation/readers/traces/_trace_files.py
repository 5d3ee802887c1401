"""Open files of traces: JSON, JSON Lines, CSV and Parquet, alone or several that hold parts of one trace."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

from evaluation.errors import InputError, LimitError, UnreadableFileError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader, JoinedFiles
from evaluation.readers.base.records import first_record, records
from evaluation.readers.traces.conversation import conversation_games
from evaluation.readers.traces.model_calls import ModelCall

_MAGIC = b"PAR1"
_ROWS_AT_ONCE = 500
_LONGEST_HEADING = 10_000
_MOST_UNPACKED = 5
"""Rows of a Parquet file may take so many times as many bytes as a file may have."""

_TRACE_KEYS = frozenset({"traceId", "trace_id", "context.trace_id"})
_DAMAGED = (OSError, ValueError, LookupError, OverflowError, MemoryError)

Calls = Callable[[Iterable[Node]], list[ModelCall]]


def trace_reader(
    format_name: str,
    recognises: Callable[[Any], bool],
    calls: Callable[[Document], Calls],
    *,
    is_table: Callable[[frozenset[str]], bool] | None = None,
) -> FileReader:
    """A reader of a tool's exports.

    Args:
        format_name: The format's name.
        recognises: Whether a file whose first record is this is of the format.
        calls: The function that makes calls to models of the records, given the file.
        is_table: Whether a CSV file with these columns is of the format; no CSV file is when left out.
    """

    def is_of_format(document: Document) -> bool:
        if is_table is not None and is_table(frozenset(_csv_columns(document))):
            return True
        return recognises(first_record(document))

    def read(documents: Sequence[Document]) -> Iterator[FileGame]:
        held = chain.from_iterable(map(trace_records, documents))
        yield from conversation_games(format_name, calls(documents[0])(held), documents[0].limits)

    def names(document: Document) -> frozenset[str]:
        found = list(trace_records(document))
        return frozenset(call.conversation for call in calls(document)(found)) | _trace_ids(found)

    return FileReader(format_name, is_of_format, lambda document: read([document]), JoinedFiles(names, read))


def parquet_reader(reader: FileReader, is_table: Callable[[frozenset[str]], bool]) -> FileReader:
    """The reader of the same format's Parquet files: those with columns for which ``is_table`` holds."""

    def is_of_format(document: Document) -> bool:
        return document.data.startswith(_MAGIC) and is_table(frozenset(_parquet_columns(document)))

    return FileReader(reader.format, is_of_format, reader.read, reader.joined)


def trace_records(document: Document) -> Iterator[Node]:
    """The records of a file: entries of JSON, or rows of a CSV or Parquet table, empty cells as null.

    Raises:
        InputError: The file is damaged, or has too many rows.
    """
    if document.data.startswith(_MAGIC):
        yield from _parquet_rows(document)
    elif first_record(document) is None and not document.json_error and _csv_columns(document):
        yield from _csv_rows(document)
    else:
        yield from records(document)


def _trace_ids(found: Iterable[Node]) -> frozenset[str]:
    """The ids of all traces that stand anywhere in the records."""
    ids: set[str] = set()
    stack = [record.value for record in found]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            ids.update(str(one) for key, one in value.items() if key in _TRACE_KEYS and isinstance(one, (str, int)))
            trace = value.get("trace")
            if isinstance(trace, dict) and isinstance(trace.get("id"), (str, int)):
                ids.add(str(trace["id"]))
        if isinstance(value, (dict, list)):
            inner = value.values() if isinstance(value, dict) else value
            stack.extend(one for one in inner if isinstance(one, (dict, list)))
    return frozenset(ids - {""})


def _csv_columns(document: Document) -> list[str]:
    """The headings of a text with commas; none for JSON and for Parquet."""
    if document.data.startswith(_MAGIC):
        return []
    line = document.text[:_LONGEST_HEADING].lstrip("\n").partition("\n")[0]
    if line.lstrip().startswith(("{", "[")) or "," not in line:
        return []
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _csv_rows(document: Document) -> Iterator[Node]:
    import pyarrow as pa
    import pyarrow.csv

    content = document.text.encode()
    columns = _csv_columns(document)
    twice = [one for one, count in Counter(columns).items() if count > 1]
    if twice:
        raise UnreadableFileError(
            f"The column {shorten(twice[0])!r} occurs twice.", place="line 1", remedy="Give each its own name."
        )
    try:
        # Cells are texts, however they look: ids may consist of digits.
        table = pyarrow.csv.read_csv(
            io.BytesIO(content),
            read_options=pyarrow.csv.ReadOptions(block_size=len(content) + 1, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string())),
        )
    except (pa.ArrowException, *_DAMAGED) as error:
        raise UnreadableFileError(
            f"The table cannot be read: {shorten(str(error).partition(chr(10))[0])}.",
            remedy='Export it again, with quotes (") around cells that hold commas or line breaks.',
        ) from None
    document.limits.check_rows(table.num_rows)
    for number, row in enumerate(table.to_pylist(), start=1):
        yield Node({key: value or None for key, value in row.items()}, f"row {number}: $")


def _parquet_columns(document: Document) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(pa.BufferReader(document.data)).names)
    except (pa.ArrowException, *_DAMAGED):
        return []


def _parquet_rows(document: Document) -> Iterator[Node]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = document.limits
    try:
        file = pq.ParquetFile(pa.BufferReader(document.data))
        limits.check_rows(file.metadata.num_rows)
        size, number = 0, 0
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            # A damaged file may hold indices and offsets that point anywhere.
            batch.validate(full=True)
            size += batch.nbytes
            if size > limits.file_bytes * _MOST_UNPACKED:
                raise LimitError(
                    f"The rows take more than {limits.file_bytes * _MOST_UNPACKED:,} bytes.",
                    remedy="Split the table into several.",
                )
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                yield Node({key: _plain(value, limits.json_depth) for key, value in row.items()}, f"row {number}: $")
    except InputError:
        raise
    except (pa.ArrowException, *_DAMAGED) as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UnreadableFileError(
            f"The Parquet table is damaged: {reason.rstrip('.')}.", remedy="Export it again."
        ) from None


def _plain(value: Any, depth: int) -> Any:
    """A cell as JSON has it; what JSON cannot hold is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, depth - 1) for key, inner in value.items()} if depth else None
    if isinstance(value, list):
        return [_plain(inner, depth - 1) for inner in value] if depth else None
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value).isoformat()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if isinstance(value, str):
        return value or None
    return value if isinstance(value, (bool, int, float)) else str(value) if isinstance(value, date) else None
