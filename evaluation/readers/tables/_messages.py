"""Rows of a table as the messages and players of one game."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.node import Node
from evaluation.readers.base.roster import alignment_of
from evaluation.readers.tables._rows import TableRow
from evaluation.readers.tables.columns import ColumnMapping

_NUMBER = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"-?\d{1,15}(\.\d{1,15})?\Z")
_BETWEEN_NAMES = re.compile(r"[;,|]")
_CHOOSE = "Correct the cell, or choose another column."


def cell_text(row: TableRow, column: str | None) -> str | None:
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


class TableMessages:
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
        channel = cell_text(row, mapping.channel)
        is_system = (channel or "").casefold() == "system"
        if not is_system and not self._players.get(speaker):
            self._players[speaker] = cell_text(row, mapping.role)
        index = len(self._messages)
        message = {
            "id": self._id(row, index),
            "index": index,
            "round": self._round(row),
            "phase": cell_text(row, mapping.phase),
            "channel": "system" if is_system else "public",
            "channel_name": None if is_system else channel,
            "speaker": speaker,
            "recipients": self._recipients(row),
            "text": text,
            "sent_at": self._time(row),
            "reply_to": cell_text(row, mapping.reply_to),
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
        name = cell_text(row, column)
        if name is not None and len(name) > 200:
            raise _wrong(row, column, name, "a name of 1 to 200 characters")
        return name

    def _text(self, row: TableRow) -> str:
        value = row.cells.get(self._mapping.text or "")
        # As it stands, but for what is not text: space around a message is part of it.
        return value if isinstance(value, str) else cell_text(row, self._mapping.text) or ""

    def _id(self, row: TableRow, index: int) -> str:
        message_id = cell_text(row, self._mapping.message_id) or f"m{index + 1}"
        if len(message_id) > 200:
            raise _wrong(row, self._mapping.message_id, message_id, "an id of 1 to 200 characters")
        if message_id in self._places:
            message = f"The message id {shorten(message_id)!r} occurs twice, first at {self._places[message_id]}."
            raise BrokenTranscriptError(message, place=row.place, remedy=_CHOOSE)
        self._places[message_id] = row.place
        return message_id

    def _round(self, row: TableRow) -> int | None:
        written = cell_text(row, self._mapping.round)
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
            value if isinstance(value, list) else _BETWEEN_NAMES.split(cell_text(row, self._mapping.recipients) or "")
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
        written = cell_text(row, column)
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
