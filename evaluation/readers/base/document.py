"""One file for a reader: decoded, with its JSON parsed once, its records, and an id that its name does not change."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError, LimitError, UnreadableFileError
from evaluation.files.strict_json import parse_json
from evaluation.readers.base.answers import NO_ANSWERS, Answers
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node

_KNOWN_BINARIES = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"PAR1": "a Parquet table",
    b"SQLite format 3": "an SQLite database",
    b"\x7fELF": "a program",
}
_SAVE_AS_UTF8 = "Save the file as UTF-8 and try again."
_SAMPLE = 4096
# Every JSON value but the first of a line stands behind one of these.
_BEFORE_VALUES = ",[:"


class Document:
    """One file's content.

    Args:
        data: The file's bytes.
        limits: Bounds for what is parsed.
        answers: A person's answers to what the file leaves open.

    Attributes:
        kept: Whatever a reader found when it recognised the file and needs to read it, by the format's name.
    """

    def __init__(self, data: bytes, limits: Limits, answers: Answers = NO_ANSWERS) -> None:
        self.answers = answers
        self.kept: dict[str, object] = {}
        self.data = data
        self.limits = limits

    @cached_property
    def text(self) -> str:
        """The content as text, every line ending as one newline.

        Raises:
            UnreadableFileError: Neither UTF-8 nor UTF-16.
        """
        return decode(self.data).replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def json(self) -> Any:
        """The parsed JSON, ``None`` where the content is not JSON (``json_error`` says why)."""
        return None if self._parsed[1] else self._parsed[0]

    @property
    def json_error(self) -> InputError | None:
        """The reason why content that begins like JSON is not JSON; ``None`` when it is, or does not begin like it."""
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[Any, InputError | None]:
        if not self.text.lstrip().startswith(("{", "[")):
            return None, None
        try:
            return parse_json(self.text, self.limits), None
        except InputError as error:
            return None, error

    @cached_property
    def json_ignoring_nan(self) -> Any:
        """Like ``json``, for formats whose tools write NaN and infinite numbers: they read as null.

        Raises:
            InputError: It is not JSON, or holds something else that cannot be stored.
        """
        return parse_json(self.text, self.limits, nan_is_null=True) if self.json_error else self.json

    @cached_property
    def first_line(self) -> Any:
        """The first line of JSON Lines; ``None`` where the text is one JSON value or no JSON.

        Only for recognising a format: what must not be stored is refused when the lines are read (``records``).
        """
        if self.json_error is None:
            return None
        line, _, rest = self.text.lstrip().partition("\n")
        if not rest.strip():
            return None
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return None

    def game_id(self, format_name: str) -> str:
        """An id for a game whose file holds none: the same content has the same id under any file name."""
        return content_id(format_name, self.text)


def content_id(format_name: str, text: str) -> str:
    """The format's name and eight hexadecimal digits of the text's hash."""
    return f"{format_name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def decode(data: bytes) -> str:
    """The text in a file: UTF-8 with or without its mark, UTF-16 with it or recognised by its zero bytes.

    Raises:
        BrokenTranscriptError: There is nothing in it.
        UnreadableFileError: Another encoding, or no text at all.
    """
    if not data.strip():
        raise BrokenTranscriptError("The file is empty.", remedy="Export the game again.")
    for start, kind in _KNOWN_BINARIES.items():
        if data.startswith(start):
            raise UnreadableFileError(f"This is {kind}, not a transcript.", remedy="Choose the transcript itself.")
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(data, error) from None
    if not text.strip():
        raise BrokenTranscriptError("The file is empty.", remedy="Export the game again.")
    return text


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise UnreadableFileError("The file is written in UTF-32.", remedy=_SAVE_AS_UTF8)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if even + odd == 0:
        return "utf-8-sig"
    # Western text in UTF-16 has a zero in every other byte: the second of each pair when little-endian.
    half = len(sample) / 2
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    raise UnreadableFileError(
        "This is a binary file, not a transcript.",
        remedy="Choose the transcript itself; if this is it, save it as UTF-8 without null bytes.",
    )


def _undecodable(data: bytes, error: UnicodeDecodeError) -> UnreadableFileError:
    line = data.count(b"\n", 0, error.start) + 1
    encoding = "UTF-8" if error.encoding.startswith("utf-8") else "UTF-16"
    return UnreadableFileError(
        f"Byte 0x{data[error.start]:02X} (number {error.start + 1} of the file) is not valid {encoding}.",
        place=f"line {line}",
        remedy=_SAVE_AS_UTF8,
    )


def first_record(document: Document) -> Any:
    """The first entry of a JSON list, the value in the first of several lines, or the only value."""
    if document.json_error is not None:
        return document.first_line
    if isinstance(document.json, list):
        return document.json[0] if document.json else None
    return document.json


def records(document: Document) -> Iterator[Node]:
    """The entries of a JSON list, the value in each line of JSON Lines, or the only value.

    Raises:
        InputError: A line is not JSON or holds what cannot be stored; or there are too many.
    """
    if document.json_error is None:
        root = Node(document.json)
        yield from root.entries() if isinstance(document.json, list) else (root,)
        return
    document.limits.check_lines(document.text)
    _check_values(document)
    lines = [(number, line) for number, line in enumerate(document.text.split("\n"), start=1) if line.strip()]
    values = _all_at_once([line for _, line in lines], document.limits)
    for position, (number, line) in enumerate(lines):
        value = values[position] if values else _one(number, line, document.limits)
        yield Node(value, f"line {number}: $")


def _all_at_once(lines: list[str], limits: Limits) -> list[Any] | None:
    """The values of all lines, several times faster than one by one; ``None`` when one of them is at fault."""
    try:
        values = parse_json("[" + ",\n".join(lines) + "]", replace(limits, json_depth=limits.json_depth + 1))
    except InputError:
        return None
    return values if len(values) == len(lines) else None


def _one(number: int, line: str, limits: Limits) -> Any:
    try:
        return parse_json(line, limits)
    except InputError as error:
        raise _placed(error, number) from None


def _check_values(document: Document) -> None:
    """Refuses more values than one JSON may hold, by a bound: commas inside texts count too."""
    if sum(document.text.count(mark) for mark in _BEFORE_VALUES) > document.limits.json_values:
        raise LimitError(
            f"The lines hold more than {document.limits.json_values:,} JSON values.",
            remedy="Split the file into several.",
        )


def _placed(error: InputError, number: int) -> InputError:
    """The error of one line, with the line's number in the file."""
    inside = error.place.removeprefix("line 1, ")
    place = (
        f"line {number}: {inside}" if inside.startswith("$") else ", ".join(filter(None, (f"line {number}", inside)))
    )
    return type(error)(error.message, place=place, remedy=error.remedy)
