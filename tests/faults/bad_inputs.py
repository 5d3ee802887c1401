"""Every kind of bad input in one table: what it is called, how its bytes are made, and what its message must name.

To add one, add a line; ``python -m tests.faults.bad_input_table`` then writes ``bad_inputs.md`` again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.bad_files import (
    GOOD_LOG,
    MIB,
    PRETTY_FACES,
    canonical,
    encrypted_zip,
    eval_log,
    game,
    lines,
    link_in_zip,
    many_messages,
    many_rows,
    native,
    nested_zip,
    parquet,
    said,
    zip_of,
    zip_that_lies,
    zip_with_a_flipped_bit,
    zip_with_method,
)


@dataclass(frozen=True, slots=True)
class BadInput:
    """One bad input.

    Attributes:
        title: What it is, for the table in the documentation.
        file: The name under which it is handed in.
        make: Its bytes.
        names: What the message must name: the value, the place, the limit. Empty where the file is accepted.
        good: How many games in it are read all the same.
        is_large: Takes seconds or hundreds of megabytes, so it is not repeated for every way in.
    """

    title: str
    file: str
    make: Callable[[], bytes]
    names: tuple[str, ...] = ()
    good: int = 0
    is_large: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether it, or a part of it, is refused."""
        return bool(self.names)


def _text(text: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: text.encode(encoding)


_GAME = json.dumps(game())
_UMLAUTS = json.dumps(game(messages=[{"playerName": "Ann", "message": "Grüße, Café"}]), ensure_ascii=False)
_CHINESE = json.dumps(game(messages=[{"playerName": "Ann", "message": "我怀疑他" * 40}]), ensure_ascii=False)

NO_FILE = (
    BadInput("Empty file", "empty.json", lambda: b"", ("empty",)),
    BadInput("Nothing but blanks", "blank.txt", lambda: b" \n\t ", ("empty",)),
    BadInput("Image under another name", "picture.json", lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("PNG image",)),
    BadInput("Binary file", "program.bin", lambda: bytes(range(256)) * 20, ("binary",)),
    BadInput("PDF", "game.pdf", lambda: b"%PDF-1.7\n...", ("PDF",)),
    BadInput("Gzip", "game.json.gz", lambda: b"\x1f\x8b\x08\0\0\0", ("gzip",)),
    BadInput("Web page", "page.html", _text("<!doctype html><html><body>Game</body></html>"), ("web page", "JSON")),
    BadInput("Prose", "notes.txt", _text("Dear all,\nthe game was fun."), ("Dear all,",)),
    BadInput("Office document", "game.xlsx", lambda: zip_of({"[Content_Types].xml": b"<x/>"}), ("Office",)),
)

JSON_FILE = (
    BadInput("JSON cut off", "cut.json", lambda: native()[:-30], ("line 1, column", "may be incomplete")),
    BadInput(
        "JSON with a comma missing", "comma.json", _text('{"gameId": "g"\n "messages": []}'), ("line 2, column 2",)
    ),
    BadInput("JSON object of another shape", "package.json", _text('{"name": "x", "version": 2}'), ("name, version",)),
    BadInput("JSON list of another shape", "list.json", _text("[1, 2]"), ("list of 2",)),
    BadInput("JSON that is one number", "number.json", _text("42"), ("42",)),
    BadInput(
        "Key twice in one object",
        "twice.json",
        _text(_GAME.replace('"turn"', '"message"')),
        ("$.messages[0]", "'message'"),
    ),
    BadInput("NaN", "nan.json", _text(_GAME.replace('"turn": 2', '"turn": NaN')), ("$.messages[1].turn", "NaN")),
    BadInput(
        "Infinity", "inf.json", _text(_GAME.replace('"turn": 2', '"turn": -1e999')), ("$.messages[1].turn", "-1e999")
    ),
    BadInput(
        "Number of 5,000 digits",
        "digits.json",
        _text(_GAME.replace('"turn": 2', '"turn": ' + "9" * 5000)),
        ("$.messages[1].turn", "999"),
    ),
    BadInput("Half of a surrogate pair", "half.json", lambda: said("Hi \ud83d"), ("$.messages[0].message", "U+D83D")),
    BadInput("Half of a surrogate pair as a key", "halfkey.json", lambda: native(**{"\udc00": 1}), ("$", "U+DC00")),
    BadInput("Nested 100,000 deep", "deep.json", _text("[" * 100_000), ("100 levels",)),
    BadInput(
        "Nested 200 deep and closed",
        "closed.json",
        lambda: native(extra=json.loads("[" * 200 + "]" * 200)),
        ("100 levels",),
    ),
    BadInput("Later version of our format", "later.json", lambda: canonical(version=9), ("$.version", "9")),
    BadInput("Key that our format does not have", "key.json", lambda: canonical(mood="good"), ("$.mood",)),
)

ENCODING = (
    BadInput("Latin-1 instead of UTF-8", "latin1.json", _text(_UMLAUTS, "latin-1"), ("0xFC", "line 1", "UTF-8")),
    BadInput(
        "UTF-8 cut inside a character",
        "cutchar.txt",
        lambda: _UMLAUTS.encode()[: _UMLAUTS.encode().index(b"\xbc")],
        ("0xC3", "UTF-8"),
    ),
    BadInput("UTF-16 cut inside a character", "cut16.json", lambda: _UMLAUTS.encode("utf-16")[:-1], ("UTF-16",)),
    BadInput("UTF-16 without its mark", "utf16.json", _text(_UMLAUTS, "utf-16-le"), good=1),
    BadInput("Chinese UTF-16 without its mark", "chinese.json", _text(_CHINESE, "utf-16-le"), ("UTF-8",)),
    BadInput("UTF-32", "utf32.json", _text(_UMLAUTS, "utf-32"), ("UTF-32",)),
    BadInput("Null bytes among text", "nulls.json", lambda: native().replace(b"suspect", b"sus\0\0pect"), ("UTF-8",)),
    BadInput("Null character in a message", "null.json", lambda: said("before \0 after"), good=1),
)


def _game(title: str, file: str, *names: str, good: int = 0, **changes: Any) -> BadInput:
    """A game in the native shape, some of it replaced."""
    return BadInput(title, file, lambda: native(**changes), names, good)


def _said(title: str, file: str, *names: str, good: int = 0, text: Any = "Hi.", **fields: object) -> BadInput:
    """A game of one message, some fields of which are replaced."""
    return BadInput(title, file, lambda: said(text, **fields), names, good)


def _vote(title: str, file: str, *names: str, good: int = 0, **fields: object) -> BadInput:
    """A game with one vote."""
    votes = [{"roundNumber": 1, "voterName": "Ann", "targetName": "Zoe"} | fields]
    return _game(title, file, *names, good=good, votes=votes)


_HI = "$.messages[0]"
_TEXT_PREFIX = "Player 1: Hi.\nPlayer 2: Ho.\nEvidence: none.\nPlayer 1: Hm.\nPlayer 2: Well.\n"
_TWO_DATES = "01/06/2024, 10:00 - Ann: Hi.\n02/06/2024, 10:01 - Ben: Ho.\n"
_TWICE = [{"id": "a", "playerName": "Ann", "message": "x"}] * 2

GAME = (
    _game("Message without a speaker", "nobody.json", f"{_HI}.playerName", "nothing", messages=[{"message": "Hi."}]),
    BadInput(
        "Plain text with a name that nothing shows to be a speaker's",
        "prefix.txt",
        _text(_TEXT_PREFIX),
        ("Line 3", "Evidence", "--speaker"),
    ),
    BadInput("Dates that can be read two ways", "dates.txt", _text(_TWO_DATES), ("01/06/2024", "--dates")),
    _said(
        "Message of somebody who is not a player",
        "stranger.json",
        *(f"{_HI}.playerName", "Zoe", "Ann, Ben"),
        playerName="Zoe",
    ),
    _game("Message without a text", "silent.json", f"{_HI}.message", "nothing", messages=[{"playerName": "Ann"}]),
    _said("Number in the place of a text", "numeric.json", f"{_HI}.message", "7", text=7),
    _game("Game without messages", "nomessages.json", "$.messages", messages=[]),
    _game("Game without players", "noplayers.json", "$.players", players=[]),
    _vote("Vote for nobody", "abstain.json", good=1, targetName=None),
    _vote("Vote for somebody who is not a player", "ghost.json", "$.votes[0].targetName", "Zoe"),
    _vote("Vote by nobody", "novoter.json", "$.votes[0].voterName", voterName="", targetName="Ann"),
    BadInput(
        "Vote for somebody who is not a player, in our format",
        "ghost2.json",
        lambda: canonical(votes=[{"round": 1, "voter": "Ann", "target": "Zoe"}]),
        ("votes[0]", "Zoe"),
    ),
    _game("Two players of one name", "doubles.json", "$.players[1].name", "Ann", players=[{"name": "Ann"}] * 2),
    _game("Two messages of one id", "ids.json", "$.messages[1].id", "'a'", messages=_TWICE),
    _game("Player without a name", "noname.json", "$.players[0].name", players=[{"name": "  "}]),
    _game("Name of 300 characters", "longname.json", "$.players[0].name", "200", players=[{"name": "A" * 300}]),
    _said("Negative round", "round.json", f"{_HI}.roundNumber", "-1", roundNumber=-1),
    _said("Time that is not a time", "time.json", f"{_HI}.timestamp", "yesterday", timestamp="yesterday"),
    _game("Negative cost", "cost.json", "$.metadata.cost.totalCost", "-1", metadata={"cost": {"totalCost": -1}}),
    _game(
        "Cache hit rate of 80 instead of 0.8",
        "cache.json",
        *("$.metadata.cost.cacheHitRate", "80"),
        metadata={"cost": {"cacheHitRate": 80}},
    ),
    _said("Answer to a message that is not there", "reply.json", good=1, inReplyToId="nowhere"),
    _said("HTML and Markdown in messages", "html.json", good=1, text=PRETTY_FACES),
    *(
        _game(title, file, good=1, players=[{"name": name}], messages=[{"playerName": name, "message": "Hi."}])
        for title, file, name in (
            ("HTML and Markdown in names", "names.json", PRETTY_FACES),
            ("Spreadsheet formula as a name", "formula.json", "=cmd()"),
        )
    ),
)


def _span(**other: object) -> bytes:
    span = {"traceId": "t", "spanId": "s", "name": "chat", "startTimeUnixNano": "1700000000000000000", "attributes": []}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span | other]}]}]}).encode()


_MODEL_CALL = [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]

TRACES = (
    BadInput("Trace without text", "trace_silent.json", lambda: _span(attributes=_MODEL_CALL), ("no message text",)),
    BadInput("Trace without a call to a model", "trace_http.json", lambda: _span(), ("no call to a model",)),
    BadInput("Span without an id", "trace_id.json", lambda: _span(spanId=None), ("spans[0].spanId", "no id")),
    BadInput("Span without a valid start time", "trace_start.json", lambda: _span(startTimeUnixNano="soon"), ("soon",)),
)

TABLE = (
    BadInput("Table without a speaker in any row", "gap.csv", _text("speaker,text\n,Hi.\n,Hello.\n"), ("speaker",)),
    BadInput(
        "Table without a column for texts", "notext.csv", _text("speaker,mood\nAnn,good\n"), ("text", "speaker, mood")
    ),
    BadInput("Table with a heading only", "heading.csv", _text("speaker,text\n"), ("row",)),
    BadInput("Row with a cell too many", "cells.csv", _text("speaker,text\nAnn,Hi, Ben.\n"), ("line 2", "3 cells")),
    BadInput("Quote that nobody closes", "quote.csv", _text('speaker,text\nAnn,"Hi.\nBen,Hello.\n'), ("line 2",)),
    BadInput("Column twice", "column.csv", _text("speaker,text,text\nAnn,a,b\n"), ("line 1", "'text'")),
    BadInput(
        "Broken line of JSON Lines",
        "broken.jsonl",
        lambda: lines({"speaker": "Ann", "text": "Hi."}) + b'\n{"speaker": ',
        ("line 2",),
    ),
    BadInput(
        "Round that is not a number, in JSON Lines",
        "nobody.jsonl",
        lambda: lines({"speaker": "Ann", "text": "Hi."}, {"speaker": "Ben", "text": "x", "round": "noon"}),
        ("line 2", "noon"),
    ),
    BadInput(
        "Chat message without a role",
        "chat.json",
        _text('{"messages": [{"role": "user", "content": "Hi."}, {"content": "Yes?"}]}'),
        ("$.messages[1].role",),
    ),
    BadInput(
        "Speakers of a ConvoKit corpus alone",
        "speakers.json",
        _text('{"Ann": {"meta": {}, "vectors": []}}'),
        ("ConvoKit", "as a table"),
    ),
    BadInput("Parquet of garbage", "garbage.parquet", lambda: b"PAR1" + bytes(range(256)) + b"PAR1", ("Parquet",)),
    BadInput("Parquet cut off", "cut.parquet", lambda: parquet(speaker=["Ann"], text=["Hi."])[:-20], ("Parquet",)),
    BadInput(
        "Parquet without a speaker",
        "nobody.parquet",
        lambda: parquet(text=["Hi."], mood=["good"]),
        ("speaker", "text, mood"),
    ),
)

ZIP = (
    BadInput(
        "Path with ../ in a zip",
        "up.zip",
        lambda: zip_of({"../up.log": GOOD_LOG, "good.log": GOOD_LOG}),
        ("outside the zip",),
        good=1,
    ),
    BadInput(
        "Absolute path in a zip",
        "root.zip",
        lambda: zip_of({"/etc/up.log": GOOD_LOG, "good.log": GOOD_LOG}),
        ("outside the zip",),
        good=1,
    ),
    BadInput("Windows path in a zip", "drive.zip", lambda: zip_of({"C:\\up.log": GOOD_LOG}), ("outside the zip",)),
    BadInput("Symbolic link in a zip", "link.zip", link_in_zip, ("symbolic link",)),
    BadInput("Zip in a zip", "two.zip", lambda: nested_zip(2), good=1),
    BadInput("Zips three deep", "three.zip", lambda: nested_zip(3), ("2 deep",)),
    BadInput(
        "Ratio bomb",
        "bomb.zip",
        lambda: zip_of({"bomb.json": b" " * (20 * MIB), "good.log": GOOD_LOG}),
        ("100 times its size",),
        good=1,
    ),
    BadInput("Bomb that lies about its size", "lies.zip", zip_that_lies, ("unpacked",)),
    BadInput(
        "200 MB inside a zip",
        "large.zip",
        lambda: zip_of({"large.json": b" " * (200 * MIB)}),
        ("200.0 MB", "20.0 MB"),
        is_large=True,
    ),
    BadInput("Encrypted zip", "secret.zip", encrypted_zip, ("encrypted", "password")),
    BadInput("Truncated zip", "cut.zip", lambda: zip_of({"game.log": GOOD_LOG})[:-40], ("damaged",)),
    BadInput("Zip with a flipped bit", "flipped.zip", zip_with_a_flipped_bit, ("unpacked",)),
    BadInput("Zip of an unknown method", "method.zip", lambda: zip_with_method(97), ("packed with",)),
    BadInput("Empty zip", "nothing.zip", lambda: zip_of({}), ("no transcript",)),
    BadInput(
        "Zip of clutter", "clutter.zip", lambda: zip_of({"__MACOSX/._a": b"x", "LICENSE": b"MIT"}), ("no transcript",)
    ),
    BadInput(
        "Good and broken files in one zip",
        "mixed.zip",
        lambda: zip_of({"good.log": GOOD_LOG, "bad.json": b"{"}),
        ("line 1",),
        good=1,
    ),
    BadInput("Inspect log of garbage", "log.eval", lambda: b"PK\x03\x04" + bytes(200), ("damaged",)),
    BadInput(
        "Inspect log with a broken sample",
        "sample.eval",
        lambda: eval_log(b'{"id": 1, "messages": ['),
        ("samples/1_epoch_1.json", "line 1"),
    ),
    BadInput(
        "Inspect log with a broken header", "header.eval", lambda: eval_log(b"{}", header=b"[]"), ("header.json",)
    ),
)

SIZE = (
    BadInput(
        "File of 200 MB", "large.json", lambda: native() + b" " * (200 * MIB), ("200.0 MB", "20.0 MB"), is_large=True
    ),
    BadInput(
        "100,000 messages in one game",
        "long.json",
        lambda: many_messages(100_000),
        ("100,000", "5,000"),
        is_large=True,
    ),
    BadInput("100,000 rows of one game", "long.csv", lambda: many_rows(100_000), ("100,000", "5,000"), is_large=True),
    BadInput("100,000 rows of 25 games", "games.csv", lambda: many_rows(100_000, games=25), good=25, is_large=True),
    BadInput(
        "1,000 players",
        "crowd.json",
        lambda: native(players=[{"name": f"P{n}"} for n in range(1000)]),
        ("1,000", "500"),
    ),
    BadInput(
        "Message of 200,000 characters",
        "endless.json",
        lambda: said("a" * 200_000),
        ("200,000", "100,000", "Message 1"),
    ),
    BadInput("300,000 lines", "lines.csv", lambda: many_rows(300_000), ("300,001", "200,000"), is_large=True),
    BadInput("Line of 10 MB", "line.txt", lambda: b"x" * (10 * MIB), ("xxx",)),
)


@dataclass(frozen=True, slots=True)
class BadPlace:
    """One path that cannot be read as it is. The attributes are those of :class:`BadInput`.

    Attributes:
        make: Makes it in an empty folder; returns the path that is handed in.
    """

    title: str
    make: Callable[[Path], Path]
    names: tuple[str, ...] = ()
    good: int = 0


def _folder(files: dict[str, bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return folder

    return make


def _loop(folder: Path) -> Path:
    (folder / "game.log").write_bytes(GOOD_LOG)
    (folder / "loop").symlink_to(folder)
    return folder


def _link(folder: Path) -> Path:
    (folder / "nowhere.json").symlink_to(folder / "gone.json")
    return folder / "nowhere.json"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.json")
    return folder / "pipe.json"


PLACES = (
    BadPlace("Path that is not there", lambda folder: folder / "missing.json", ("missing.json", "no such file")),
    BadPlace("Link to a file that is gone", _link, ("nowhere.json", "no such file")),
    BadPlace("Named pipe", _pipe, ("pipe.json", "regular file")),
    BadPlace("Empty folder", lambda folder: folder, ("no transcript",)),
    BadPlace("Folder that links to itself", _loop, good=1),
    BadPlace(
        "Folder with good and broken files", _folder({"good.log": GOOD_LOG, "bad.json": b"{"}), ("line 1",), good=1
    ),
)

SECTIONS = {
    "Files that are not transcripts": NO_FILE,
    "JSON": JSON_FILE,
    "Encodings": ENCODING,
    "What the game says": GAME,
    "Tables and chats": TABLE,
    "Traces": TRACES,
    "Zips and packed logs": ZIP,
    "Size": SIZE,
}
ALL = tuple(case for cases in SECTIONS.values() for case in cases)
