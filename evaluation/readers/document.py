"""One file for a reader: decoded, with its JSON parsed once, its records, and an id that its name does not change."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple
from unicodedata import category

from evaluation.errors import BrokenTranscriptError, InputError, LimitError, UnreadableFileError
from evaluation.escaping import cut
from evaluation.files.strict_json import parse_json, shorten, step
from evaluation.text.display import counted
from evaluation.text.normal import fold
from evaluation.transcript import Transcript, build_transcript

_MIB = 1024 * 1024
SPLIT = "Split it into several"
IS_ONE = "Check that it is one game; split it if it holds several"


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for one upload; the defaults are far above any real game.

    Attributes:
        file_bytes: Size of one file, also of one inside a zip once it is unpacked.
        messages: Messages of one transcript; its votes may be as many again.
        players: Players of one transcript (personality diversity compares each with each).
        message_characters: Length of one message.
        lines: Lines of one file in a format that goes by lines, rows of a table.
        json_depth: How deep lists and objects may stand inside each other.
        json_values: Numbers, texts, lists and objects in one JSON file; cells of one Parquet table.
        files: Files in one folder or one zip, those of zips inside it included; also games in one file.
        archive_bytes: Size of one zip, and of everything in it once it is unpacked, zips inside it included.
        archive_ratio: Unpacked to packed size of one file in a zip; looked at from 1 MiB unpacked.
        archive_nesting: How many zips may stand inside each other below the outermost.
    """

    file_bytes: int = 20 * _MIB
    messages: int = 5_000
    players: int = 500
    message_characters: int = 100_000
    lines: int = 200_000
    json_depth: int = 100
    json_values: int = 2_000_000
    files: int = 20_000
    archive_bytes: int = 500 * _MIB
    archive_ratio: int = 100
    archive_nesting: int = 1

    def check_size(self, size: int, *, is_zip: bool = False) -> None:
        """Refuses a file of ``size`` bytes with a ``LimitError`` when that is too much."""
        allowed = self.archive_bytes if is_zip else self.file_bytes
        if size > allowed:
            found = f"The file has {size / _MIB:,.1f} MB; the limit is {allowed / _MIB:,.1f} MB."
            raise LimitError.beyond("archive_bytes" if is_zip else "file_bytes", found, advice=IS_ONE)

    def check_sizes(self, fields: Mapping[str, Any]) -> None:
        """Refuses a transcript whose fields hold too many players, messages or votes with a ``LimitError``."""
        players, messages, votes = (Node(fields.get(key)).size for key in ("players", "messages", "votes"))
        _check(players, self.players, "game", "players", "players")
        _check(messages, self.messages, "game", "messages", "messages")
        _check(votes, self.messages, "game", "votes", "messages")

    def build(self, fields: Mapping[str, Any]) -> Transcript:
        """The transcript of these fields, refused with a ``LimitError`` before it is built where it is too large.

        Raises:
            BrokenTranscriptError: A value that the model refuses.
        """
        self.check_sizes(fields)
        return build_transcript(Transcript, fields)

    def check_lines(self, text: str) -> None:
        """Refuses a text of too many lines with a ``LimitError``."""
        _check(text.rstrip("\n").count("\n") + 1, self.lines, "file", "lines", "lines")

    def check_rows(self, count: int) -> None:
        """Refuses a table of ``count`` rows with a ``LimitError`` when that is too many."""
        _check(count, self.lines, "table", "rows", "lines")

    def check_cells(self, count: int) -> None:
        """Refuses a table of ``count`` cells with a ``LimitError`` when that is too many."""
        _check(count, self.json_values, "table", "cells", "json_values", "Leave columns out, or split it into several")

    def check_games(self, count: int) -> None:
        """Refuses a file of ``count`` games with a ``LimitError`` when that is too many."""
        if count > self.files:
            raise LimitError.beyond("files", f"The file holds more than {self.files:,} games.", advice=SPLIT)

    def check_texts(self, transcript: Transcript) -> None:
        """Refuses a transcript with too long a message with a ``LimitError``; its size was checked as it was built."""
        for message in transcript.messages:
            if len(message.text) > self.message_characters:
                found = f"{len(message.text):,} characters, more than {self.message_characters:,}"
                raise LimitError.beyond(
                    "message_characters",
                    f"Message {message.index + 1} has {found}.",
                    advice="Check that the file keeps one message apart from the next",
                    place=f"messages[{message.index}]",
                )


def _check(count: int, most: int, subject: str, unit: str, setting: str, advice: str = IS_ONE) -> None:
    if count > most:
        message = f"The {subject} has {count:,} {unit}, more than {most:,}."
        raise LimitError.beyond(setting, message, advice=advice)


class Topic(StrEnum):
    """The thing that a question is about; the value is the name of the command's option."""

    SPEAKER = "speaker"
    CHANNEL = "channel"
    ROLE = "role"
    MERGED = "merged-cells"
    DATES = "dates"
    INCOMPLETE = "incomplete"
    AS_READ = "as-read"


OPTIONS: Mapping[Topic, tuple[str, ...]] = MappingProxyType(
    {
        Topic.SPEAKER: ("player", "moderator", "text"),
        Topic.CHANNEL: ("public", "team", "private", "system"),
        Topic.ROLE: ("mafia", "town", "none"),
        Topic.MERGED: ("carry", "leave"),
        Topic.DATES: ("day-first", "month-first"),
        Topic.INCOMPLETE: ("take", "leave"),
        Topic.AS_READ: ("take", "leave"),
    }
)
"""The answers that each topic takes. ``text``: the words before the colon are part of the message above."""
EVERY = "*"
"""The name of a question about all channels whose names tell nothing, where they are too many to ask one by one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that the file does not say for certain.

    Attributes:
        topic: The thing it is about.
        name: The speaker, channel or role, several of one kind separated by commas: text of the file, so hostile. Of
            what was understood, eight hexadecimal digits that files of one form share. Else empty.
        words: The question in a sentence.
        taken: The answer that was assumed; ``None`` where the game is not stored before somebody answers.
        kinds: The answers that it takes, where the topic's are too many for it.
    """

    topic: Topic
    name: str
    words: str
    taken: str | None = None
    kinds: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers to choose from."""
        return self.kinds or OPTIONS[self.topic]

    @property
    def option(self) -> str:
        """The command's option that answers it: ``--speaker 'Note=player|moderator|text'``."""
        values = "|".join(self.choices)
        if self.topic in (Topic.INCOMPLETE, Topic.AS_READ):
            return f"--{self.topic}"
        # It is printed on terminals, and names are text of the file.
        name = "".join("?" if category(letter) == "Cc" else letter for letter in self.name)
        return f'--{self.topic} "{name}={values}"' if name else f"--{self.topic} {values}"


@dataclass(frozen=True, slots=True)
class Answers:
    """A person's answers, for all files of one import.

    Attributes:
        speakers: ``player``, ``moderator`` or ``text`` by name.
        channels: ``public``, ``team``, ``private`` or ``system`` by channel name; ``*`` stands for every other one.
        dates: ``day-first`` or ``month-first``; ``None`` while nobody has said.
        incomplete: Whether games are taken in that ended early.
        roles: ``mafia``, ``town`` or ``none`` by the name of a role.
        merged_cells: ``carry`` or ``leave``; ``None`` while nobody has said.
        as_read: Whether what was understood is taken for every file.
        forms: The names of the questions about single forms, of which somebody takes what was understood.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    dates: str | None = None
    incomplete: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    merged_cells: str | None = None
    as_read: bool = False
    forms: frozenset[str] = frozenset()

    def speaker(self, name: str) -> str | None:
        """The answer about a speaker, whatever the case of the name; ``None`` without one."""
        return _given(self.speakers, name)

    def channel(self, name: str) -> str | None:
        """The answer about a channel, likewise."""
        return _given(self.channels, name)

    def role(self, name: str) -> str | None:
        """The answer about a role, likewise."""
        return _given(self.roles, name)


def _given(answers: Mapping[str, str], name: str) -> str | None:
    """The answer about the name itself, else about a list of names in one question that holds it."""
    if not answers:
        return None
    wanted = fold(name).strip()
    by_name = {fold(given).strip(): kind for given, kind in answers.items()}
    lists = (kind for given, kind in by_name.items() if wanted in given.split(", "))
    return by_name.get(wanted) or next(lists, None)


NO_ANSWERS = Answers()


@dataclass(frozen=True, slots=True)
class TableHead:
    """The part of a table that a person sees when choosing its columns.

    Attributes:
        columns: Their names, each once, in the file's order.
        rows: The cells of the first rows as text, as many as there are columns, long ones cut.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


NO_PROGRAM = "No program is known here that writes files of this form."
"""Asked about where neither a known program writes a file's form nor docs/formats.md describes it.

Of 22 public files of other forms that were stored without a question, ten had been read wrongly.
"""


class LeftOut(NamedTuple):
    """A line or row that became nothing: where it stands, its beginning, and why."""

    place: str
    text: str
    reason: str


def leave_out(kinds: Counter[str], left_out: list[LeftOut], place: str, text: str, reason: str) -> None:
    """Counts a line or row that became nothing, and keeps the first few."""
    kinds["left out"] += 1
    if len(left_out) < _MOST_LEFT_OUT:
        left_out.append(LeftOut(place, cut(text, _LONGEST_SHOWN), reason))


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading one game: its transcript, or the error that says what to do.

    Attributes:
        name: The file or game folder as the person knows it, with the folder or zip that it came from; a game of a file
            that holds several has its own name behind the file's. Empty in what the reader of a format returns.
        transcript: The game; ``None`` when it was refused.
        error: Why it was refused; ``None`` when it was read.
        format: The format recognised; ``None`` when none was.
        head: Columns and first rows of a table, whose columns a person may choose; ``None`` for any other file.
        left_aside: Names of other files in the folder of a game of several files that no reader knows: they belong to
            the game and are not games themselves.
        remarks: What was settled about who speaks, to whom and when, one sentence each.
        questions: What is open about it. One without an answer refuses the game until somebody gives one.
        preview: The game as it stands while a question refuses it.
        kinds: How many lines or rows became a message, vote, elimination, round, role or event, or were left out; where
            the format is none of lines or rows, how many of each the game holds.
        left_out: The lines or rows that became nothing, the first three.
        not_understood: What is likely to be missing from the game; empty where nothing is. It is asked about.
    """

    name: str = ""
    transcript: Transcript | None = None
    error: InputError | None = None
    format: str | None = None
    head: TableHead | None = None
    left_aside: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    preview: Transcript | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    not_understood: str = ""


_MOST_LEFT_OUT = 3
_LONGEST_SHOWN = 80
_LONGEST_NAME = 200
_DECODER = json.JSONDecoder()
_VALUE = re.compile(r"\S")
# window.YTD.part0 = [...]; and callback({...});
_SCRIPT = re.compile(
    r"\s*(?:(?:var|let|const)\s)?[A-Za-z_$][\w.$]{0,80}\s?[=(]\s*(?P<data>[\[{].*[\]}])\s*\)?;?\s*", re.DOTALL
)
# Ten digits of seconds reach the year 2286, so whatever is larger was counted in milliseconds.
_FIRST_MILLISECONDS = 10**10
# Milli-, micro- and nanoseconds.
_FINER_UNITS = 3


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
        return len(self.value) if isinstance(self.value, (dict, list, tuple)) else 0

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
        """A time in UTC from ISO 8601 text (without an offset: UTC), or from seconds since 1970 or finer units."""
        try:
            return None if self.value is None else _time(self.value)
        except (ValueError, OverflowError, OSError):
            raise self.wrong("a time as in 2025-01-31T18:05:00Z") from None


def _time(written: object) -> datetime:
    if isinstance(written, str):
        time = datetime.fromisoformat(written.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    if isinstance(written, bool) or not isinstance(written, (int, float)):
        raise ValueError(written)
    seconds = written
    for _ in range(_FINER_UNITS):
        seconds = seconds / 1000 if abs(seconds) >= _FIRST_MILLISECONDS else seconds
    return datetime.fromtimestamp(seconds, UTC)


def _described(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {shorten(value)}"
    if isinstance(value, list):
        return f"a list of {counted(len(value), 'item')}"
    return "nothing" if value is None else f'the text "{shorten(value)}"' if isinstance(value, str) else "an object"


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
_MOST_OTHER, _MOST_DAMAGED = 0.1, 10
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
        may_doubt: Whether a text in no known encoding is taken as it is likely to be, for a question.

    Attributes:
        kept: Whatever a reader found when it recognised the file and needs to read it, by the format's name.
        undecoded: Why its bytes are in no known encoding, once they have been decoded all the same; else ``None``.
        doubt: That in words, with how they were taken; else empty.
    """

    def __init__(self, data: bytes, limits: Limits, answers: Answers = NO_ANSWERS, *, may_doubt: bool = False) -> None:
        self.answers = answers
        self.kept: dict[str, object] = {}
        self.undecoded: UnreadableFileError | None = None
        self.doubt = ""
        self.may_doubt = may_doubt
        self.data = data
        self.limits = limits

    @cached_property
    def text(self) -> str:
        """The content as text, every line ending as one newline; of data that a script sets or hands on, the data.

        Raises:
            UnreadableFileError: Neither UTF-8 nor UTF-16.
        """
        try:
            text = decode(self.data)
        except UnreadableFileError as error:
            text, how = _as_likely(self.data) if self.may_doubt else ("", "")
            if not text:
                raise
            self.undecoded, self.doubt = error, f"{error.place}: {error.message} {how}"
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        script = _SCRIPT.fullmatch(text)
        return script["data"] if script else text

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
        """The first of several JSON values; ``None`` where the text is one JSON value or no JSON.

        Only for recognising a format: what must not be stored is refused when the values are read (``records``).
        """
        if self.json_error is None:
            return None
        text = self.text.lstrip()
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        rest = text[end:].lstrip(" \t")
        return value if rest.strip() and rest.startswith(("\n", "{", "[")) else None

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
    for start, kind in _KNOWN_BINARIES.items():
        if data.startswith(start):
            unpacked = "Unpack it, or export" if "archive" in kind else "Export"
            raise UnreadableFileError(
                f"This is {kind}, not a transcript.", remedy=f"{unpacked} the transcript as text, CSV or JSON."
            )
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(data, error) from None
    if not text.strip():
        raise BrokenTranscriptError("The file is empty.", remedy="Export the transcript again.")
    return text


def _as_likely(data: bytes) -> tuple[str, str]:
    """The text of bytes that are not all UTF-8, and how it was taken; empty where too little speaks for it.

    Of 230 public transcripts three were written by older programs under Windows, two had a few damaged bytes.
    """
    text = data.decode("utf-8-sig", "replace")
    damaged = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", "ignore")) - damaged
    if b"\0" in data:
        return "", ""
    if damaged <= _MOST_DAMAGED and whole > _MOST_DAMAGED * damaged:
        return text, f"So it is at {counted(damaged, 'place')}, which a sign stands for."
    with suppress(UnicodeDecodeError):
        if len(data.translate(None, bytes(range(0x80)))) <= _MOST_OTHER * len(data):
            return data.decode("cp1252"), "It was read as Windows-1252."
    return "", ""


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
        remedy="If it is a text file, save it as UTF-8; else export the transcript as text, CSV or JSON.",
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
    # By a bound: commas inside texts count too.
    if sum(document.text.count(mark) for mark in _BEFORE_VALUES) > document.limits.json_values:
        message = f"The lines hold more than {document.limits.json_values:,} JSON values."
        raise LimitError.beyond("json_values", message, advice=IS_ONE)
    for number, written in _values(document.text):
        try:
            yield Node(parse_json(written, document.limits), f"line {number}: $")
        except InputError as error:
            inside = error.place.removeprefix("line 1, ")
            place = f"line {number}{':' if inside.startswith('$') else ','} {inside}" if inside else f"line {number}"
            raise type(error)(error.message, place=place, remedy=error.remedy) from None


def _values(text: str) -> Iterator[tuple[int, str]]:
    """The JSON values of a text with the line in which each begins: one a line, else one after another."""
    lines = text.split("\n")
    with suppress(ValueError, RecursionError):
        json.loads(next(filter(str.strip, lines)))
        yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
        return
    position = number = 0
    while (value := _VALUE.search(text, position)) is not None:
        begin = value.start()
        if begin > 0 and text[begin:].strip() in ("}", "]"):
            # A bracket too many at the end holds nothing.
            return
        number += text.count("\n", position, begin)
        try:
            position = _DECODER.raw_decode(text, begin)[1]
        except (ValueError, RecursionError):
            position = len(text)
        yield number + 1, text[begin:position]
        number += text.count("\n", begin, position)


Games = Iterable[tuple[str, Callable[[], Transcript | ReadResult]]]
"""The games of a file that holds several, each with its name and a way to read it, so that others survive its error.

The name stands behind the file's wherever the game is listed.
"""
Found = Transcript | ReadResult | Games
"""What a reader returns: the transcript, with what it leaves open, or several games."""


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads a format in which a file is one game or several.

    Attributes:
        format: The format's name, as ``Transcript.source_format`` holds it.
        recognises: Whether a file's content is of this format, however broken.
        read: What the file holds; raises an ``InputError`` where the content is broken.
    """

    format: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Found]


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads a format in which a folder is one game or several.

    Attributes:
        format: The format's name.
        takes: Whether a file of that name is part of such a folder.
        recognises: Whether these file names together are such a folder, however incomplete.
        recognises_part: Whether the content is one file of such a folder, handed in without the others.
        read: What the files taken, by name, hold; raises an ``InputError`` where they are broken.
    """

    format: str
    takes: Callable[[str], bool]
    recognises: Callable[[Set[str]], bool]
    recognises_part: Callable[[Document], bool]
    read: Callable[[Mapping[str, Document]], Found]


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    """Reads a format in which a zip is one file of the tool that wrote it.

    Attributes:
        format: The format's name.
        recognises: Whether the paths in a zip are those of such a file.
        read: What it holds, from a way to get each file by its path, to be used while the games are read.
    """

    format: str
    recognises: Callable[[Set[str]], bool]
    read: Callable[[Mapping[str, Callable[[], Document]]], Found]
