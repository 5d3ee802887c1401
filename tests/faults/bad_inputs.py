"""Every kind of bad input in one table: what it is called, how its bytes are made, and what its message must name."""

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
        file: The name under which it is handed in, which says what it is.
        make: Its bytes.
        names: What the message must name: the value, the place, the limit. Empty where the file is accepted.
        good: How many games in it are read all the same.
        is_large: Takes seconds or hundreds of megabytes, so it is not repeated for every way in.
    """

    file: str
    make: Callable[[], bytes]
    names: tuple[str, ...] = ()
    good: int = 0
    is_large: bool = False


def _text(text: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: text.encode(encoding)


_GAME = json.dumps(game())
_UMLAUTS = json.dumps(game(messages=[{"playerName": "Ann", "message": "Grüße, Café"}]), ensure_ascii=False)
_CHINESE = json.dumps(game(messages=[{"playerName": "Ann", "message": "我怀疑他" * 40}]), ensure_ascii=False)

NO_FILE = (
    BadInput("empty.json", lambda: b"", ("empty",)),
    BadInput("blank.txt", lambda: b" \n\t ", ("empty",)),
    BadInput("picture.json", lambda: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("PNG image",)),
    BadInput("program.bin", lambda: bytes(range(256)) * 20, ("binary",)),
    BadInput("game.pdf", lambda: b"%PDF-1.7\n...", ("PDF",)),
    BadInput("game.json.gz", lambda: b"\x1f\x8b\x08\0\0\0", ("gzip",)),
    BadInput("page.html", _text("<!doctype html><html><body>Game</body></html>"), ("web page", "JSON")),
    BadInput("notes.txt", _text("Dear all,\nthe game was fun."), ("Dear all,",)),
    BadInput("game.xlsx", lambda: zip_of({"[Content_Types].xml": b"<x/>"}), ("Office",)),
)

JSON_FILE = (
    BadInput("cut.json", lambda: native()[:-30], ("line 1, column", "may be incomplete")),
    BadInput("comma-missing.json", _text('{"gameId": "g"\n "messages": []}'), ("line 2, column 2",)),
    BadInput("another-object.json", _text('{"name": "x", "version": 2}'), ("name, version",)),
    BadInput("another-list.json", _text("[1, 2]"), ("list of 2",)),
    BadInput("number.json", _text("42"), ("42",)),
    BadInput("key-twice.json", _text(_GAME.replace('"turn"', '"message"')), ("$.messages[0]", "'message'")),
    BadInput("nan.json", _text(_GAME.replace('"turn": 2', '"turn": NaN')), ("$.messages[1].turn", "NaN")),
    BadInput("infinity.json", _text(_GAME.replace('"turn": 2', '"turn": -1e999')), ("$.messages[1].turn", "-1e999")),
    BadInput(
        "5000-digits.json", _text(_GAME.replace('"turn": 2', '"turn": ' + "9" * 5000)), ("$.messages[1].turn", "999")
    ),
    BadInput("half-a-surrogate-pair.json", lambda: said("Hi \ud83d"), ("$.messages[0].message", "U+D83D")),
    BadInput("half-a-surrogate-pair-as-key.json", lambda: native(**{"\udc00": 1}), ("$", "U+DC00")),
    BadInput("nested-without-end.json", _text("[" * 100_000), ("100 levels",)),
    BadInput("nested-200-deep.json", lambda: native(extra=json.loads("[" * 200 + "]" * 200)), ("100 levels",)),
    BadInput("later-version.json", lambda: canonical(version=9), ("$.version", "9")),
    BadInput("unknown-key.json", lambda: canonical(mood="good"), ("$.mood",)),
)

ENCODING = (
    BadInput("latin1.json", _text(_UMLAUTS, "latin-1"), ("0xFC", "line 1", "UTF-8")),
    BadInput(
        "utf8-cut-inside-a-character.txt",
        lambda: _UMLAUTS.encode()[: _UMLAUTS.encode().index(b"\xbc")],
        ("0xC3", "UTF-8"),
    ),
    BadInput("utf16-cut-inside-a-character.json", lambda: _UMLAUTS.encode("utf-16")[:-1], ("UTF-16",)),
    BadInput("utf16-without-its-mark.json", _text(_UMLAUTS, "utf-16-le"), good=1),
    BadInput("chinese-utf16-without-its-mark.json", _text(_CHINESE, "utf-16-le"), ("UTF-8",)),
    BadInput("utf32.json", _text(_UMLAUTS, "utf-32"), ("UTF-32",)),
    BadInput("null-bytes.json", lambda: native().replace(b"suspect", b"sus\0\0pect"), ("UTF-8",)),
    BadInput("null-character.json", lambda: said("before \0 after"), good=1),
)


def _game(file: str, *names: str, good: int = 0, **changes: Any) -> BadInput:
    """A game in the native shape, some of it replaced."""
    return BadInput(file, lambda: native(**changes), names, good)


def _said(file: str, *names: str, good: int = 0, text: Any = "Hi.", **fields: object) -> BadInput:
    """A game of one message, some fields of which are replaced."""
    return BadInput(file, lambda: said(text, **fields), names, good)


def _vote(file: str, *names: str, good: int = 0, **fields: object) -> BadInput:
    """A game with one vote."""
    votes = [{"roundNumber": 1, "voterName": "Ann", "targetName": "Zoe"} | fields]
    return _game(file, *names, good=good, votes=votes)


_HI = "$.messages[0]"
_TEXT_PREFIX = "Player 1: Hi.\nPlayer 2: Ho.\nEvidence: none.\nPlayer 1: Hm.\nPlayer 2: Well.\n"
_TWO_DATES = "01/06/2024, 10:00 - Ann: Hi.\n02/06/2024, 10:01 - Ben: Ho.\n"
_TWICE = [{"id": "a", "playerName": "Ann", "message": "x"}] * 2

GAME = (
    _game("message-without-a-speaker.json", f"{_HI}.playerName", "nothing", messages=[{"message": "Hi."}]),
    BadInput("name-that-may-be-no-speaker.txt", _text(_TEXT_PREFIX), ("Line 3", "Evidence", "--speaker")),
    BadInput("dates-read-two-ways.txt", _text(_TWO_DATES), ("01/06/2024", "--dates")),
    _said("speaker-who-is-not-a-player.json", *(f"{_HI}.playerName", "Zoe", "Ann, Ben"), playerName="Zoe"),
    _game("message-without-a-text.json", f"{_HI}.message", "nothing", messages=[{"playerName": "Ann"}]),
    _said("number-as-text.json", f"{_HI}.message", "7", text=7),
    _game("no-messages.json", "$.messages", messages=[]),
    _game("no-players.json", "$.players", players=[]),
    _vote("vote-for-nobody.json", good=1, targetName=None),
    _vote("vote-for-a-stranger.json", "$.votes[0].targetName", "Zoe"),
    _vote("vote-by-nobody.json", "$.votes[0].voterName", voterName="", targetName="Ann"),
    BadInput(
        "vote-for-a-stranger-own-format.json",
        lambda: canonical(votes=[{"round": 1, "voter": "Ann", "target": "Zoe"}]),
        ("votes[0]", "Zoe"),
    ),
    _game("two-players-of-one-name.json", "$.players[1].name", "Ann", players=[{"name": "Ann"}] * 2),
    _game("two-messages-of-one-id.json", "$.messages[1].id", "'a'", messages=_TWICE),
    _game("player-without-a-name.json", "$.players[0].name", players=[{"name": "  "}]),
    _game("long-name.json", "$.players[0].name", "200", players=[{"name": "A" * 300}]),
    _said("negative-round.json", f"{_HI}.roundNumber", "-1", roundNumber=-1),
    _said("no-time.json", f"{_HI}.timestamp", "yesterday", timestamp="yesterday"),
    _game("negative-cost.json", "$.metadata.cost.totalCost", "-1", metadata={"cost": {"totalCost": -1}}),
    _game(
        "cache-hit-rate-of-80.json", *("$.metadata.cost.cacheHitRate", "80"), metadata={"cost": {"cacheHitRate": 80}}
    ),
    _said("reply-to-nothing.json", good=1, inReplyToId="nowhere"),
    _said("html-in-messages.json", good=1, text=PRETTY_FACES),
    *(
        _game(file, good=1, players=[{"name": name}], messages=[{"playerName": name, "message": "Hi."}])
        for file, name in (("html-in-names.json", PRETTY_FACES), ("formula-as-name.json", "=cmd()"))
    ),
)


def _span(**other: object) -> bytes:
    span = {"traceId": "t", "spanId": "s", "name": "chat", "startTimeUnixNano": "1700000000000000000", "attributes": []}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span | other]}]}]}).encode()


_MODEL_CALL = [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]

TRACES = (
    BadInput("trace-without-text.json", lambda: _span(attributes=_MODEL_CALL), ("no message text",)),
    BadInput("trace-without-a-model.json", lambda: _span(), ("no call to a model",)),
    BadInput("span-without-an-id.json", lambda: _span(spanId=None), ("spans[0].spanId", "no id")),
    BadInput("span-without-a-start.json", lambda: _span(startTimeUnixNano="soon"), ("soon",)),
)

TABLE = (
    BadInput("no-speaker-in-any-row.csv", _text("speaker,text\n,Hi.\n,Hello.\n"), ("speaker",)),
    BadInput("no-column-for-texts.csv", _text("speaker,mood\nAnn,good\n"), ("text", "speaker, mood")),
    BadInput("heading-only.csv", _text("speaker,text\n"), ("row",)),
    BadInput("cell-too-many.csv", _text("speaker,text\nAnn,Hi, Ben.\n"), ("line 2", "3 cells")),
    BadInput("open-quote.csv", _text('speaker,text\nAnn,"Hi.\nBen,Hello.\n'), ("line 2",)),
    BadInput("column-twice.csv", _text("speaker,text,text\nAnn,a,b\n"), ("line 1", "'text'")),
    BadInput("broken-line.jsonl", lambda: lines({"speaker": "Ann", "text": "Hi."}) + b'\n{"speaker": ', ("line 2",)),
    BadInput(
        "wrong-round.jsonl",
        lambda: lines({"speaker": "Ann", "text": "Hi."}, {"speaker": "Ben", "text": "x", "round": "noon"}),
        ("line 2", "noon"),
    ),
    BadInput(
        "chat-without-a-role.json",
        _text('{"messages": [{"role": "user", "content": "Hi."}, {"content": "Yes?"}]}'),
        ("$.messages[1].role",),
    ),
    BadInput("convokit-speakers-alone.json", _text('{"Ann": {"meta": {}, "vectors": []}}'), ("ConvoKit", "as a table")),
    BadInput("garbage.parquet", lambda: b"PAR1" + bytes(range(256)) + b"PAR1", ("Parquet",)),
    BadInput("cut.parquet", lambda: parquet(speaker=["Ann"], text=["Hi."])[:-20], ("Parquet",)),
    BadInput("no-speaker.parquet", lambda: parquet(text=["Hi."], mood=["good"]), ("speaker", "text, mood")),
)

ZIP = (
    BadInput(
        "path-outside.zip", lambda: zip_of({"../up.log": GOOD_LOG, "good.log": GOOD_LOG}), ("outside the zip",), good=1
    ),
    BadInput("symbolic-link.zip", link_in_zip, ("symbolic link",)),
    BadInput("zip-in-a-zip.zip", lambda: nested_zip(2), good=1),
    BadInput("zips-three-deep.zip", lambda: nested_zip(3), ("2 deep",)),
    BadInput(
        "ratio-bomb.zip",
        lambda: zip_of({"bomb.json": b" " * (20 * MIB), "good.log": GOOD_LOG}),
        ("100 times its size",),
        good=1,
    ),
    BadInput("bomb-that-lies.zip", zip_that_lies, ("unpacked",)),
    BadInput("large.zip", lambda: zip_of({"large.json": b" " * (200 * MIB)}), ("200.0 MB", "20.0 MB"), is_large=True),
    BadInput("encrypted.zip", encrypted_zip, ("encrypted", "password")),
    BadInput("cut.zip", lambda: zip_of({"game.log": GOOD_LOG})[:-40], ("damaged",)),
    BadInput("flipped-bit.zip", zip_with_a_flipped_bit, ("unpacked",)),
    BadInput("unknown-method.zip", lambda: zip_with_method(97), ("packed with",)),
    BadInput("empty.zip", lambda: zip_of({}), ("no transcript",)),
    BadInput("clutter.zip", lambda: zip_of({"__MACOSX/._a": b"x", "LICENSE": b"MIT"}), ("no transcript",)),
    BadInput("good-and-broken.zip", lambda: zip_of({"good.log": GOOD_LOG, "bad.json": b"{"}), ("line 1",), good=1),
    BadInput("garbage.eval", lambda: b"PK\x03\x04" + bytes(200), ("damaged",)),
    BadInput("broken-sample.eval", lambda: eval_log(b'{"id": 1, "messages": ['), ("samples/1_epoch_1.json", "line 1")),
    BadInput("broken-header.eval", lambda: eval_log(b"{}", header=b"[]"), ("header.json",)),
)

SIZE = (
    BadInput("large.json", lambda: native() + b" " * (200 * MIB), ("200.0 MB", "20.0 MB"), is_large=True),
    BadInput("10000-messages.json", lambda: many_messages(10_000), ("10,000", "5,000"), is_large=True),
    BadInput("10000-rows.csv", lambda: many_rows(10_000), ("10,000", "5,000"), is_large=True),
    BadInput("25-games.csv", lambda: many_rows(25_000, games=25), good=25, is_large=True),
    BadInput("1000-players.json", lambda: native(players=[{"name": f"P{n}"} for n in range(1000)]), ("1,000", "500")),
    BadInput("endless-message.json", lambda: said("a" * 200_000), ("200,000", "100,000", "Message 1")),
    BadInput("300000-lines.csv", lambda: many_rows(300_000), ("300,001", "200,000"), is_large=True),
    BadInput("endless-line.txt", lambda: b"x" * (10 * MIB), ("xxx",)),
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

ALL = (*NO_FILE, *JSON_FILE, *ENCODING, *GAME, *TABLE, *TRACES, *ZIP, *SIZE)
