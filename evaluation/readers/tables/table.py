"""Reads tables with one row a message: CSV, TSV, other separators, JSON and JSON Lines; Parquet through ``parquet``.

The columns are known by their names (``columns``), or as a person has mapped them. Several games in one table are told
apart by the game column. A column that is not mapped is kept in each message's metadata. Rows without a speaker or a
text are left out and counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers._who_speaks import LEFT_OUT
from evaluation.readers.base.document import Document, content_id, first_record
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.base.roster import alignment_of
from evaluation.readers.formats import chat
from evaluation.readers.tables.columns import ColumnMapping, guess_mapping
from evaluation.readers.tables.rows import ParsedTable, TableRow, is_parquet, parquet_table, table_columns, text_table
from evaluation.readers.traces import crewai_log, langfuse, langsmith
from evaluation.transcript import Transcript, build_transcript

FORMAT = "table"

_NUMBER = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"-?\d{1,15}(\.\d{1,15})?\Z")
_BETWEEN_NAMES = re.compile(r"[;,|]")
_CHOOSE = "Correct the cell, or choose another column."
# Formats of rows too, with columns that a table may have as well, but with a meaning of their own.
_ALSO_ROWS = (chat.READER, crewai_log.READER, langfuse.READER, langsmith.READER)


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


def _open_table(document: Document) -> ParsedTable:
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
    table = _open_table(document)
    mapping = guess_mapping(table.columns) if mapping is None else mapping
    _check(mapping, table)
    games: dict[str, list[TableRow]] = {}
    for row in table.rows:
        games.setdefault(_cell_text(row, mapping.game) or "", []).append(row)
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
    messages = _TableMessages(mapping)
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


def _cell_text(row: TableRow, column: str | None) -> str | None:
    """The cell as text without the space around it; ``None`` when it is empty or there is no such column."""
    value = row.cells.get(column) if column is not None else None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        # A column of ids with gaps arrives as floats.
        value = int(value)
    if isinstance(value, (dict, list)):
        raise _wrong(row, column, value, "one value")
    return str(value).strip() or None


def _wrong(row: TableRow, column: str | None, value: object, expected: str) -> BrokenTranscriptError:
    message = f'Found "{shorten(str(value))}" in the column {shorten(column)!r}, expected {expected}.'
    return BrokenTranscriptError(message, place=row.place, remedy=_CHOOSE)


class _TableMessages:
    """Collects the messages and players of one game, row by row.

    Attributes:
        left_out: How many rows had no speaker or no text, so that nobody says them: results, moves.
    """

    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._used = mapping.used
        self._messages: list[dict[str, Any]] = []
        self._players: dict[str, str | None] = {}
        self.left_out = 0
        self._places: dict[str, str] = {}

    @property
    def players(self) -> list[dict[str, Any]]:
        """Speakers outside the system channel, in the order of first words, with the first role given."""
        return [{"name": name, "role": role, "alignment": alignment_of(role)} for name, role in self._players.items()]

    def add(self, row: TableRow) -> None:
        """Adds the message of a row; raises a ``BrokenTranscriptError`` that names the row."""
        mapping = self._mapping
        speaker, text = self._name(row, mapping.speaker), self._text(row)
        if speaker is None or not text.strip():
            self.left_out += 1
            return
        channel = _cell_text(row, mapping.channel)
        is_system = (channel or "").casefold() == "system"
        if not is_system and not self._players.get(speaker):
            self._players[speaker] = _cell_text(row, mapping.role)
        index = len(self._messages)
        message = {
            "id": self._id(row, index),
            "index": index,
            "round": self._round(row),
            "phase": _cell_text(row, mapping.phase),
            "channel": "system" if is_system else "public",
            "channel_name": None if is_system else channel,
            "speaker": speaker,
            "recipients": self._recipients(row),
            "text": text,
            "sent_at": self._time(row),
            "reply_to": _cell_text(row, mapping.reply_to),
            "metadata": {
                column: value
                for column, cell in row.cells.items()
                if column not in self._used and (value := _storable(cell)) is not None
            },
        }
        self._messages.append(message)

    def finish(self) -> list[dict[str, Any]]:
        """The messages; what an answer refers to stands as in the table: an id, or a player's name."""
        if not self._players:
            raise BrokenTranscriptError(
                "No row has a speaker and a text.", remedy="Choose other columns for the speaker and the text."
            )
        return self._messages

    def _name(self, row: TableRow, column: str | None) -> str | None:
        name = _cell_text(row, column)
        if name is not None and len(name) > 200:
            raise _wrong(row, column, name, "a name of 1 to 200 characters")
        return name

    def _text(self, row: TableRow) -> str:
        value = row.cells.get(self._mapping.text or "")
        # As it stands, but for what is not text: space around a message is part of it.
        return value if isinstance(value, str) else _cell_text(row, self._mapping.text) or ""

    def _id(self, row: TableRow, index: int) -> str:
        message_id = _cell_text(row, self._mapping.message_id) or f"m{index + 1}"
        if len(message_id) > 200:
            raise _wrong(row, self._mapping.message_id, message_id, "an id of 1 to 200 characters")
        if message_id in self._places:
            message = f"The message id {shorten(message_id)!r} occurs twice, first at {self._places[message_id]}."
            raise BrokenTranscriptError(message, place=row.place, remedy=_CHOOSE)
        self._places[message_id] = row.place
        return message_id

    def _round(self, row: TableRow) -> int | None:
        written = _cell_text(row, self._mapping.round)
        if written is None:
            return None
        numbers = _NUMBER.findall(written)
        if len(numbers) != 1 or "-" in written:
            raise _wrong(row, self._mapping.round, written, "a round's number")
        return int(numbers[0])

    def _recipients(self, row: TableRow) -> tuple[str, ...]:
        if self._mapping.recipients is None:
            return ()
        value = row.cells.get(self._mapping.recipients)
        names = (
            value if isinstance(value, list) else _BETWEEN_NAMES.split(_cell_text(row, self._mapping.recipients) or "")
        )
        for name in names:
            if not isinstance(name, str) or len(name) > 200:
                raise _wrong(row, self._mapping.recipients, name, "names")
        return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))

    def _time(self, row: TableRow) -> datetime | None:
        column = self._mapping.sent_at
        value = row.cells.get(column or "")
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        written = _cell_text(row, column)
        if written is None:
            return None
        try:
            return Node(float(written) if _DECIMAL.match(written) else written).time_or_none()
        except BrokenTranscriptError:
            raise _wrong(row, column, written, "a time as in 2025-01-31T18:05:00Z") from None


def _storable(cell: Any) -> Any:
    """A cell as JSON; ``None`` when it is empty."""
    if cell is None or cell == "" or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    if isinstance(cell, (str, int, float, bool, dict, list)):
        return cell
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)


READER = FileReader(FORMAT, _recognises, table_games)
BINARY_READER = FileReader(FORMAT, is_parquet, table_games)
