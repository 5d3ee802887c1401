"""Find every problem of a broken file, by cutting each out and reading the rest again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from evaluation.errors import InputError
from evaluation.readers import ChooseColumns, Limits, read_upload
from evaluation.readers._file_entries import is_zip
from evaluation.readers.base.document import decode

MOST_PROBLEMS = 20
LARGEST_BYTES = 2 * 1024 * 1024

# In other formats one part refers to another by its place, and cutting one out would make faults that are not there.
_FORMATS = frozenset({"native", "table", "openai-chat", "sharegpt"})
_LIST_ENTRY = re.compile(r"\$((?:\.\w+){0,4})\[(\d+)\]")
_LINE = re.compile(r"line (\d+)")


def every_problem(
    data: bytes, limits: Limits | None = None, choose_columns: ChooseColumns | None = None
) -> tuple[InputError, ...]:
    """The problems of a file that holds one game, in the order in which they are met; none when it can be read.

    After the first, faults in entries of a list and in rows are found by leaving out what was found before. A fault in
    a player ends the search, because messages and votes depend on players; so do twenty faults.

    Args:
        data: The file's bytes. Of zips, of files above 2 MiB and of other formats only the first problem is told.
        limits: Bounds for the file; the defaults where left out.
        choose_columns: As for the readers.
    """
    return tuple(_problems(data, limits or Limits(), choose_columns))


def _problems(data: bytes, limits: Limits, choose_columns: ChooseColumns | None) -> Iterator[InputError]:
    rest: _Rest | None = None
    for _ in range(MOST_PROBLEMS):
        results = read_upload("file", data if rest is None else rest.data(), limits, choose_columns)
        error = results[0].error
        if error is None or (rest is not None and rest.is_exhausted):
            return
        yield error if rest is None else rest.placed(error)
        if rest is None:
            is_alone = len(results) == 1 and results[0].format in _FORMATS
            rest = _rest_of(data) if is_alone else None
        if rest is None or not rest.cut(error.place):
            return


class _Rest(Protocol):
    """The part of a file that remains after the faults found so far are cut out."""

    @property
    def is_exhausted(self) -> bool: ...
    def data(self) -> bytes: ...
    def cut(self, place: str) -> bool: ...
    def placed(self, error: InputError) -> InputError: ...


def _rest_of(data: bytes) -> _Rest | None:
    if len(data) > LARGEST_BYTES or is_zip(data) or data.startswith(b"PAR1"):
        return None
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    try:
        return _JsonRest(json.loads(text))
    except (ValueError, RecursionError):
        return _LinesRest(text.split("\n"))


@dataclass
class _JsonRest:
    """One JSON value; entries of lists are cut out, and places told as they were before."""

    value: Any
    kept: dict[str, list[int]] = field(default_factory=dict)
    is_exhausted: bool = False

    def data(self) -> bytes:
        return json.dumps(self.value).encode()

    def cut(self, place: str) -> bool:
        found = _LIST_ENTRY.match(place)
        if found is None or found[1] == ".players":
            return False
        held = self._list(found[1])
        position = int(found[2])
        if held is None or position >= len(held):
            return False
        self.kept.setdefault(found[1], list(range(len(held)))).pop(position)
        del held[position]
        # A list without entries is a fault of its own, but not the file's.
        self.is_exhausted = not held
        return True

    def placed(self, error: InputError) -> InputError:
        found = _LIST_ENTRY.match(error.place)
        if found is None or found[1] not in self.kept:
            return error
        before = self.kept[found[1]][int(found[2])]
        place = f"${found[1]}[{before}]{error.place[found.end() :]}"
        return type(error)(error.message, place=place, remedy=error.remedy)

    def _list(self, path: str) -> list[Any] | None:
        value = self.value
        for key in path.split(".")[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, list) else None


@dataclass
class _LinesRest:
    """Lines, of which a faulty one is emptied: the numbers of the others stay."""

    lines: list[str]
    is_exhausted: bool = False

    def data(self) -> bytes:
        return "\n".join(self.lines).encode()

    def cut(self, place: str) -> bool:
        found = _LINE.match(place)
        number = int(found[1]) if found else 0
        # The first line of a table is its heading; half of a quoted text cannot be left out.
        if not 1 < number <= len(self.lines) or self.lines[number - 1].count('"') % 2:
            return False
        if not self.lines[number - 1].strip():
            return False
        self.lines[number - 1] = ""
        self.is_exhausted = sum(bool(line.strip()) for line in self.lines) < 2
        return True

    def placed(self, error: InputError) -> InputError:
        return error
