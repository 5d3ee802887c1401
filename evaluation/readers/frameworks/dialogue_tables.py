"""Reads data sets of dialogues in Parquet, one a row: a column ``messages`` or ``conversations`` with all its turns.

The column holds lists of ``{role, content}`` or ``{from, value}``, or the same as JSON text: sets on Hugging Face do.
Rows are read when it is their turn, so that a large set need not fit into memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from functools import partial
from typing import Any

from evaluation.errors import InputError, LimitError, UnreadableFileError
from evaluation.files.strict_json import parse_json
from evaluation.readers.base.document import Document, content_id
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader
from evaluation.readers.formats import openai_chat, sharegpt
from evaluation.transcript import Transcript

FORMAT = "dialogue-table"

_MAGIC = b"PAR1"
_COLUMNS = ("messages", "conversations", "conversation")
_ROWS_AT_ONCE = 100
_IDS = ("id", "conversation_id", "conversation_hash", "prompt_id")


def _holds_dialogues(document: Document) -> bool:
    """Whether it is a Parquet table with a column of dialogues; a damaged one is not."""
    return document.data.startswith(_MAGIC) and _column(document) is not None


def _column(document: Document) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(pa.BufferReader(document.data))
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, MemoryError):
        return None
    for name in _COLUMNS:
        if name in schema.names and schema.names.count(name) == 1:
            kind = schema.field(name).type
            is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
            if is_list or (pa.types.is_string(kind) and not {"speaker", "text"} <= set(schema.names)):
                return name
    return None


def _read(document: Document) -> Iterator[FileGame]:
    import pyarrow as pa

    try:
        yield from _games(document)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, MemoryError) as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UnreadableFileError(
            f"The Parquet table is damaged: {reason.rstrip('.')}.", remedy="Export it again."
        ) from None


def _games(document: Document) -> Iterator[FileGame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = document.limits
    file = pq.ParquetFile(pa.BufferReader(document.data))
    if file.metadata.num_rows > limits.files:
        raise LimitError(
            f"The table has {file.metadata.num_rows:,} dialogues, more than {limits.files:,}.",
            remedy="Keep those that you want to score, or split it into several.",
        )
    column = _column(document) or _COLUMNS[0]
    number = 0
    for batch in file.iter_batches(_ROWS_AT_ONCE):
        # A damaged file may hold indices and offsets that point anywhere.
        batch.validate(full=True)
        if batch.nbytes > limits.file_bytes * 5:
            raise LimitError(
                f"{_ROWS_AT_ONCE} dialogues take more than {limits.file_bytes * 5:,} bytes.",
                remedy="Split the table into several.",
            )
        for row in batch.to_pylist():
            number += 1
            name = next((str(row[key]) for key in _IDS if isinstance(row.get(key), (str, int))), str(number))[:100]
            yield FileGame(name, partial(_transcript, row, column, f"row {number}", limits))


def _transcript(row: dict[str, Any], column: str, place: str, limits: Limits) -> Transcript:
    turns = row.pop(column)
    if isinstance(turns, str):
        turns = parse_json(turns, limits)
    shown = {key: value for key, value in ((key, _plain(value)) for key, value in row.items()) if value is not None}
    is_sharegpt = isinstance(turns, list) and turns and isinstance(turns[0], dict) and "from" in turns[0]
    held = "conversations" if is_sharegpt else "messages"
    cleaned = [_without_nulls(turn) for turn in turns] if isinstance(turns, list) else turns
    key = next((str(row[key]) for key in _IDS if isinstance(row.get(key), (str, int))), None)
    game_id = key[:200] if key and key.strip() else content_id(FORMAT, json.dumps(cleaned, default=str))
    about = {key: value for key, value in shown.items() if key not in (*_IDS, "messages", "conversations", "system")}
    node = Node(about | {"id": game_id, held: cleaned}, f"{place}: $")
    read = sharegpt.conversation_transcript if is_sharegpt else openai_chat.chat_in
    return read(node, limits, FORMAT)


def _without_nulls(turn: Any) -> Any:
    """A turn without the fields of others: in a column of structures every turn has all of them."""
    if not isinstance(turn, dict):
        return turn
    return {key: value for key, value in turn.items() if value is not None or key == "content"}


def _plain(value: Any) -> Any:
    """A cell beside the dialogue: short texts, numbers and times are kept, anything longer or nested is not."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, float) and not -1e300 < value < 1e300:
        return None
    if isinstance(value, int) and abs(value) > 10**18:
        return None
    return value if isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 500) else None


READER = FileReader(FORMAT, _holds_dialogues, _read)
