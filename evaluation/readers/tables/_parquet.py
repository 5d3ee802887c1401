"""The rows of a Parquet table. Only the plain columns: lists and structures in cells are passed over.

Parquet packs a text that stands in every row once, so a small file may unpack to anything. Texts are read as
dictionaries, each distinct one made once, and what the rows hold together is bounded before they become a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evaluation.errors import BrokenTranscriptError, InputError, LimitError, UnreadableFileError
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.tables._rows import ParsedTable, TableRow

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"PAR1"
_ROWS_AT_ONCE = 2000


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
