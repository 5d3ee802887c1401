"""A value in a JSON document with its path, so that every wrong type is reported with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten, step

_LONGEST_NAME = 200
# Ten digits of seconds reach the year 2286, so whatever is larger was counted in milliseconds.
_FIRST_MILLISECONDS = 10**10


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value; a key that is missing reads as null.

    The methods that return a plain value raise a ``BrokenTranscriptError`` when the value is of another type.
    """

    value: Any
    path: str = "$"

    def __getitem__(self, key: str) -> Node:
        return Node(self.fields().get(key), step(self.path, key))

    def either(self, *keys: str) -> Node:
        """The value under the first of several keys that has one."""
        return next((self[key] for key in keys if self[key].value is not None), self[keys[0]])

    def wrong(self, expected: str, *, remedy: str = "Correct that value and try again.") -> BrokenTranscriptError:
        """The error that says what stands here and what was expected."""
        return BrokenTranscriptError(
            f"Found {_described(self.value)}, expected {expected}.", place=self.path, remedy=remedy
        )

    def fields(self) -> Mapping[str, Any]:
        """The object's keys and values; empty for null."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self.value

    def rest(self, *known: str) -> dict[str, Any]:
        """Entries of the object under other keys than the known ones."""
        return {key: value for key, value in self.fields().items() if key not in known}

    def entries(self) -> Iterator[Node]:
        """The list's items; none for null."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        for position, item in enumerate(self.value):
            yield Node(item, step(self.path, position))

    @property
    def size(self) -> int:
        """Number of entries of a list or object; 0 for anything else."""
        return len(self.value) if isinstance(self.value, (dict, list)) else 0

    def members(self) -> Iterator[tuple[str, Node]]:
        """The object's keys with their values."""
        for key in self.fields():
            yield key, self[key]

    def text(self) -> str:
        """A text, also an empty one."""
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def text_or_none(self) -> str | None:
        """A text, or ``None`` for null."""
        return None if self.value is None else self.text()

    def name(self) -> str:
        """A text of 1 to 200 characters, without the space around it."""
        name = self.text().strip()
        if not 1 <= len(name) <= _LONGEST_NAME:
            raise self.wrong(f"a name of 1 to {_LONGEST_NAME} characters")
        return name

    def name_or_none(self) -> str | None:
        """A name, or ``None`` for null and for an empty text."""
        if self.value is None or (isinstance(self.value, str) and not self.value.strip()):
            return None
        return self.name()

    def identifier_or_none(self) -> str | None:
        """An id as text, whether the file writes it as text or as a whole number."""
        if isinstance(self.value, int) and not isinstance(self.value, bool) and abs(self.value) < 10**18:
            return str(self.value)
        return self.name_or_none()

    def count_or_none(self) -> int | None:
        """A whole number from 0 to 10^15, or ``None`` for null."""
        if self.value is None:
            return None
        number = self.value
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 10**15:
            raise self.wrong("a whole number from 0")
        return number

    def number_or_none(self, *, maximum: float = 1e15) -> float | None:
        """A number from 0 to ``maximum``, or ``None`` for null."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not 0 <= self.value <= maximum:
            raise self.wrong("a number from 0" + (f" to {maximum:g}" if maximum < 1e15 else ""))
        return float(self.value)

    def flag_or_none(self) -> bool | None:
        """True, false, or ``None`` for null."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def time_or_none(self) -> datetime | None:
        """A time in UTC from ISO 8601 text (without an offset: UTC) or from seconds or milliseconds since 1970."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int, float)):
            raise self._no_time()
        try:
            return _time(self.value)
        except (ValueError, OverflowError, OSError):
            raise self._no_time() from None

    def _no_time(self) -> BrokenTranscriptError:
        return self.wrong("a time as in 2025-01-31T18:05:00Z")


def _time(written: str | float) -> datetime:
    if isinstance(written, str):
        time = datetime.fromisoformat(written.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    seconds = written / 1000 if abs(written) >= _FIRST_MILLISECONDS else written
    return datetime.fromtimestamp(seconds, UTC)


def _described(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f'the text "{shorten(value)}"'
        case int() | float():
            return f"the number {shorten(value)}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return "an object"
