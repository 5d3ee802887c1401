"""Reads tables with one row a message: CSV, TSV, other separators, JSON and JSON Lines; Parquet through ``parquet``.

The columns are known by their names (``columns``), or as a person has mapped them. Several games in one table are told
apart by the game column. A column that is not mapped is kept in each message's metadata. Rows without a speaker or a
text are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._who_speaks import LEFT_OUT
from evaluation.readers.base.document import Document, content_id, first_record
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.formats import openai_chat
from evaluation.readers.frameworks import crewai_log
from evaluation.readers.tables._messages import TableMessages, cell_text
from evaluation.readers.tables._parquet import is_parquet, parquet_table
from evaluation.readers.tables._rows import ParsedTable, TableRow, table_columns, text_table
from evaluation.readers.tables.columns import ColumnMapping, guess_mapping
from evaluation.readers.traces import langfuse, langsmith
from evaluation.transcript import Transcript, build_transcript

FORMAT = "table"

# Formats of rows too, with columns that a table may have as well, but with a meaning of their own.
_ALSO_ROWS = (openai_chat.READER, crewai_log.READER, langfuse.READER, langsmith.READER)


def _recognises(document: Document) -> bool:
    columns = table_columns(document)
    missing = guess_mapping(columns).missing
    if len(columns) < 2 or len(missing) == 2 or isinstance(document.json, dict):
        return False
    if any(reader.recognises(document) for reader in _ALSO_ROWS):
        return False
    # One of the two columns is enough to ask for the other.
    return not missing or _is_flat(first_record(document))


def _is_flat(record: object) -> bool:
    return not isinstance(record, dict) or not any(isinstance(value, (dict, list)) for value in record.values())


def open_table(document: Document) -> ParsedTable:
    """The columns and rows of a table, whatever kind of file it is.

    Raises:
        InputError: It is broken.
    """
    return parquet_table(document) if is_parquet(document) else text_table(document)


def table_games(document: Document, mapping: ColumnMapping | None = None) -> Found:
    """The games in a table; without a mapping, as its columns' names suggest.

    Raises:
        InputError: The table is broken, or a column that is needed is missing.
    """
    table = open_table(document)
    mapping = guess_mapping(table.columns) if mapping is None else mapping
    _check(mapping, table)
    games: dict[str, list[TableRow]] = {}
    for row in table.rows:
        games.setdefault(cell_text(row, mapping.game) or "", []).append(row)
    if len(games) > 1:
        return _several(games, mapping, document.limits)
    if not games:
        raise BrokenTranscriptError("The table has no row.", remedy="Export it again.")
    ((game_id, rows),) = games.items()
    return _transcript(game_id, rows, mapping, document.limits)


def _check(mapping: ColumnMapping, table: ParsedTable) -> None:
    shown = ", ".join(shorten(column) for column in table.columns[:20])
    if mapping.missing:
        remedy = "Name it so, or choose it when you upload the file."
        raise BrokenTranscriptError(f"No column holds the {mapping.missing[0]}; there are {shown}.", remedy=remedy)
    for name, column in mapping.as_dict().items():
        if column is not None and column not in table.columns:
            message = f"There is no column {shorten(column)!r} for the {name}; there are {shown}."
            raise BrokenTranscriptError(message, remedy="Choose one of them.")
    if mapping.speaker == mapping.text:
        message = f"The column {shorten(str(mapping.text))!r} cannot hold both speaker and text; there are {shown}."
        raise BrokenTranscriptError(message, remedy="Choose two of them.")


def _several(games: dict[str, list[TableRow]], mapping: ColumnMapping, limits: Limits) -> Iterator[FileGame]:
    for game_id, rows in games.items():
        yield FileGame(game_id or "rows without a game", partial(_transcript, game_id, rows, mapping, limits))


def _transcript(game_id: str, rows: Sequence[TableRow], mapping: ColumnMapping, limits: Limits) -> Transcript:
    limits.check_messages(len(rows))
    messages = TableMessages(mapping)
    for row in rows:
        messages.add(row)
    found = messages.finish()
    limits.check_players(len(messages.players))
    fields = {
        "game_id": game_id or content_id(FORMAT, repr([tuple(row.cells.items()) for row in rows])),
        "source_format": FORMAT,
        "players": messages.players,
        "messages": found,
        "metadata": {LEFT_OUT: messages.left_out} if messages.left_out else {},
    }
    return build_transcript(Transcript, fields)


READER = FileReader(FORMAT, _recognises, table_games)
BINARY_READER = FileReader(FORMAT, is_parquet, table_games)
