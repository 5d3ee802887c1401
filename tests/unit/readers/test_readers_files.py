"""Files, folders and zips, beside ``tests/faults/bad_inputs.py``: what is too large or broken is refused alone."""

import io
import json
import os
import struct
import tracemalloc
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path

import pyarrow
import pytest

from evaluation.readers import Limits, ReadResult, iter_paths, read_path, read_upload, read_uploads
from tests.faults.bad_files import zip_of
from tests.unit.readers.reading import DATA, LOG, read, refusal, results

FOLDERS = ("aiwolf", "inspect_logs", "llm_werewolf", "llmafia", "tinytroupe", "werewolf_gpt")
CANONICAL = json.dumps({"format": "dramaturg-transcript", "version": 1, "game_id": "g", "source_format": "x"})


def native(text: str) -> bytes:
    """A native file whose only message is ``text``, which is put in as it stands, escapes and all."""
    body = '{"gameId": "g", "players": [{"name": "Ann"}], "messages": [{"playerName": "Ann", "message": "%s"}]}'
    return (body % text).encode()


def outcome(found: list[ReadResult]) -> dict[str, str]:
    return {one.name: str(one.error or "read") for one in found}


def games(found: list[ReadResult]) -> list[tuple[str | None, str | None]]:
    return sorted(((one.format, one.transcript.id if one.transcript else None) for one in found), key=repr)


THREE_VOTES = native("Hi").replace(b'"messages"', b'"votes": [1, 2, 3], "messages"')


@pytest.mark.parametrize(
    ("data", "limits", "expected"),
    [
        (b"\xff\xfe", {}, "The file is empty."),
        (b"{}", {}, "The JSON object is empty. No known format begins like that."),
        (CANONICAL, {}, "$.players: The value is missing. (2 faults in all.)"),
        (LOG, {"messages": 33}, "The game has 34 messages, more than 33."),
        (THREE_VOTES, {"messages": 2}, "The game has 3 votes, more than 2."),
    ],
    ids=["a mark alone", "empty object", "no players", "messages", "votes"],
)
def test_each_mistake_and_each_limit_gets_a_reason(data: bytes, limits: dict[str, int], expected: str) -> None:
    assert refusal(data, limits=Limits(**limits)).startswith(expected)


def folder_zip(folder: Path, *, below: str = "") -> bytes:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return zip_of({below + path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def test_just_within_the_limits_is_read() -> None:
    assert read(LOG, limits=Limits(messages=34, players=5, message_characters=300)).messages


def test_too_many_files_in_a_folder(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.log").write_bytes(LOG)
    assert "The folder holds more than 3 files." in refusal(tmp_path, limits=Limits(files=3))


def test_a_folder_is_read_one_game_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    (tmp_path / "b.log").write_bytes(LOG)
    results = iter_paths([tmp_path])
    assert next(results).name.endswith("a.log")
    # A file that goes away in the meantime spoils only itself.
    (tmp_path / "b.log").unlink()
    assert "There is no such file" in str(next(results).error)


def test_paths_out_of_the_zip_are_refused_and_the_rest_goes_in() -> None:
    escapes = ["../up.log", "a/../../up.log", "/etc/up.log", "C:\\up.log", "..\\up.log"]
    results = read_upload("x.zip", zip_of(dict.fromkeys(escapes, LOG) | {"good.log": LOG}))
    refused = [str(result.error) for result in results if result.error]
    assert refused == ["The path points outside the zip. Pack the files with relative paths."] * len(escapes)
    assert [result.name for result in results if result.transcript] == ["x.zip/good.log"]


def test_many_files_that_are_too_much_together() -> None:
    files = {f"{number}.log": LOG for number in range(4)}
    found = outcome(results(zip_of(files), "x.zip", limits=Limits(archive_bytes=3 * len(LOG))))
    assert list(found.values())[:3] == ["read"] * 3
    assert found["x.zip/3.log"].startswith("The zip unpacks to more than")
    assert refusal(zip_of(files), limits=Limits(files=3)).startswith("The zip holds more files than 3. Split it into")


_DEEP = zip_of({"a.zip": zip_of({"b.zip": zip_of({"c.log": LOG})})})
_BEYOND = {
    "file_bytes": (LOG, 10), "messages": (LOG, 2), "players": (LOG, 2), "message_characters": (LOG, 5),
    "lines": (LOG, 2), "json_depth": (b'[[[{"a": 1}]]]', 2), "json_values": (b"[1, 2, 3]", 2),
    "files": (zip_of({"a.log": LOG, "b.log": LOG}), 1), "archive_bytes": (zip_of({"a.log": LOG}), 10),
    "archive_ratio": (zip_of({"a.log": b"Ann: Hello\n" * 200_000}), 2), "archive_nesting": (_DEEP, 0),
}  # fmt: skip


@pytest.mark.parametrize("setting", [one.name for one in fields(Limits)])
def test_a_refusal_by_a_limit_names_the_setting(setting: str) -> None:
    content, limit = _BEYOND[setting]
    assert f"or raise limit.{setting} (" in refusal(content, name="x", limits=Limits(**{setting: limit}))


def test_zips_side_by_side_are_not_inside_each_other() -> None:
    inner = zip_of({"game.log": LOG})
    broken = b"PK\x03\x04 broken"
    results = outcome(read_upload("x.zip", zip_of({"a.zip": broken, "b.zip": broken, "c.zip": inner, "d.zip": inner})))
    assert [name for name, found in results.items() if found == "read"] == [f"x.zip/{one}.zip/game.log" for one in "cd"]


def test_the_budget_of_files_counts_zips_inside() -> None:
    inner = zip_of({"a.log": LOG, "b.log": LOG})
    results = outcome(read_upload("x.zip", zip_of({"1.zip": inner, "2.zip": inner}), Limits(files=4)))
    assert results["x.zip/2.zip"].startswith("The zip holds more files than 0. Split it into several, or raise")


def test_the_same_file_twice_in_a_game_folder() -> None:
    # zipfile warns when asked for a name twice, so the second is written under another name of the same length.
    data = zip_of({"config.json": b"{}", "public_daytime_chat.txt": b"", "c0nfig.json": b"{}"})
    assert refusal(data.replace(b"c0nfig.json", b"config.json")) == "It holds config.json twice. Pack it again."


def test_hostile_text_comes_to_an_end() -> None:
    """Half a megabyte of what each reader scans for, without ever completing it: days, were it not linear."""
    texts = [
        "# Werewolf GPT\n" + "Player number 1 is named **" * 20_000,
        "# Werewolf GPT\nPlayer number 1 is named **A**, and they have the ***B*** card.\n" + "* a : b " * 60_000,
        "# Werewolf GPT\nPlayer number 1 is named **A**, and they have the ***B*** card.\n> **A:** a"
        + "\n> a" * 100_000,
        "0,status,1,VILLAGER,ALIVE,t,A\n0,talk,0,0,1," + "," * 500_000,
        "0,status,1,V,ALIVE,t,A\n" * 20_000,
        '{"gameId": "' + "\\u005c" * 80_000,
        '{"messages": [], "players": [' + '{"name": "a"},' * 30_000 + "{}]}",
        '{"messages": [' + '{"inReplyToId": "' + "m" * 300 + '1"},' * 1500 + '{}], "players": []}',
        "[12:00:00] " * 50_000,
        "[00:00:00] ",
        "PK\x05\x06" + "\0" * 18,
        "name,text\nAnn," + '"' * 499_999,
        "name,text\n" + "Ann,x\n" * 80_000 + "Bob",
        "name|text;" * 40_000 + "\nx",
        '{"role": "user", "content": "' + "{[," * 100_000 + '"}\n{"role": 1}',
        '{"name": "A", "text": "x"}\n' * 20_000 + '{"name": "A", "text": {',
        '{"nbformat": 4, "cells": [{"outputs": [{"data": {"text/plain": "THINK acts: [TALK]\\n'
        + "x --> x --> : [" * 30_000
        + "\\n > -" * 10_000
        + '"}}]}]}',
        '{"nbformat": 4, "cells": [{"outputs": [{"data": {"text/plain": "A acts: [TALK]\\n > x'
        + "\\nA --> B: [CONVERSATION]\\n > y" * 10_000
        + '"}}]}]}',
    ]
    for text in texts:
        (result,) = read_upload("x", text.encode())
        assert result.error is not None or result.transcript is not None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_encodings_that_editors_write(encoding: str) -> None:
    assert read(native("Grüße — 你好").decode().encode(encoding)).messages[0].text == "Grüße — 你好"


def test_line_endings_and_the_name_do_not_matter() -> None:
    assert read(LOG) == read(LOG.replace(b"\n", b"\r\n")) == read(LOG, name="holiday.png")


def test_markup_in_messages_stays_as_it_is() -> None:
    (message,) = read(native("<script>alert(1)</script> **bold** \\u0007 {{x}}")).messages
    assert message.text == "<script>alert(1)</script> **bold** \x07 {{x}}"


def test_the_other_files_of_a_folder_go_in(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "good.log").write_bytes(LOG)
    (tmp_path / "bad.bin").write_bytes(b"\0\1\2\0\0")
    (tmp_path / "readme.txt").write_bytes(b"Hello")
    (tmp_path / "noticed.txt").write_bytes(b"Hello")
    results = {r.name.partition("/")[2]: r.error is None for r in read_path(tmp_path)}
    assert results == {"bad.bin": False, "noticed.txt": False, "sub/good.log": True}


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b"])
def test_a_path_that_cannot_be(path: str) -> None:
    (result,) = read_path(path)
    assert result.error is not None


def test_a_name_of_bytes_that_are_no_characters(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/game-\xff.log", "wb") as stream:
        stream.write(LOG)
    (result,) = read_path(tmp_path)
    assert result.error is None
    assert result.name.endswith("/game-?.log")


def test_a_large_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    assert refusal(path).startswith("The file has 200.0 MB; the limit is 20.0 MB.")


def test_errors_name_no_more_than_a_line_of_what_they_found() -> None:
    stranger = native("x").replace(b'"Ann", "m', b'"' + b"Z" * 150 + b'", "m')
    for data in (b"x" * 100_000, stranger, b'{"' + b"k" * 9999 + b'":1}'):
        assert len(refusal(data)) < 600


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_same_games_as_in_the_folder(folder: str) -> None:
    expected = games(read_path(DATA / folder))
    assert games(read_upload("games.zip", folder_zip(DATA / folder, below="downloads/games/"))) == expected


def test_reading_tells_how_far_it_is_game_by_game_also_within_a_zip() -> None:
    told: list[tuple[int, int]] = []
    archive = folder_zip(DATA / "werewolf_gpt")
    count = len(read_upload("games.zip", archive))
    files = [("broken.json", b"{"), ("games.zip", archive)]
    read_uploads(files, progress=lambda done, found: told.append((done, found)))
    # Nothing yet; the refusal of the first file, then that file; each game of the zip, then the zip.
    within = [(1, 1 + number) for number in range(1, count + 1)]
    assert told == [(0, 0), (0, 1), (1, 1), *within, (2, 1 + count)]


def test_reading_stops_when_nobody_waits_any_more() -> None:
    def leave(done: int, found: int) -> None:
        if found:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_uploads([("games.zip", folder_zip(DATA / "werewolf_gpt"))], progress=leave)


def zstandard_zip(files: dict[str, bytes], *, announced: int | None = None) -> bytes:
    """A zip of method 93: what is packed is stored first, then the headers are made to tell so."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, pyarrow.compress(content, "zstd", asbytes=True))
    data = bytearray(buffer.getvalue())
    with zipfile.ZipFile(buffer) as archive:
        members = archive.infolist()
    directory = data.index(b"PK\x01\x02")
    for member, content in zip(members, files.values(), strict=True):
        size = len(content) if announced is None else announced
        for method_at, crc_at in ((member.header_offset + 8, 14), (directory + 10, 16)):
            begin = member.header_offset if crc_at == 14 else directory
            struct.pack_into("<H", data, method_at, 93)
            struct.pack_into("<L", data, begin + crc_at, zlib.crc32(content))
            struct.pack_into("<L", data, begin + crc_at + 8, size)
        directory += 46 + len(member.filename)
    return bytes(data)


def test_members_are_unpacked() -> None:
    results = read_upload("x.zip", zstandard_zip({"a/one.log": LOG, "a/two.log": LOG.replace(b"Sakura", b"Sakiko")}))
    assert [(result.name, result.error) for result in results] == [("x.zip/a/one.log", None), ("x.zip/a/two.log", None)]
    assert results[0].transcript != results[1].transcript


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_size_that_lies_costs_no_memory(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("bomb.json", b" " * 2**20 * 30)
    data = bytearray(buffer.getvalue())
    for size_at in (data.rindex(b"PK\x01\x02") + 24, 22):
        struct.pack_into("<L", data, size_at, 1000)
    packed = bytes(data)
    tracemalloc.start()
    try:
        words = refusal(packed)
        assert tracemalloc.get_traced_memory()[1] < 2 * len(packed) + 2**20
    finally:
        tracemalloc.stop()
    others = {zipfile.ZIP_BZIP2: "packed with bzip2", zipfile.ZIP_LZMA: "packed with lzma"}
    assert others.get(method, "its size is not the one announced") in words


def test_a_zstandard_file_that_lies_or_is_broken_is_refused() -> None:
    good = zstandard_zip({"a.log": LOG})
    for data, told in (
        (zstandard_zip({"bomb.json": b" " * 2**20 * 50}, announced=1000), "its size is not the one announced"),
        (zstandard_zip({"bomb.json": b" " * 2**20 * 4}), "more than 100 times its size"),
        (good.replace(struct.pack("<L", zlib.crc32(LOG)), b"\1\2\3\4"), "its checksum is wrong"),
        (good[:40] + bytes(20) + good[60:], "The file cannot be unpacked"),
    ):
        assert told in refusal(data)


def test_a_log_of_inspect_packed_so_reads_as_the_other_one() -> None:
    path = next((DATA / "inspect_logs").glob("2025-*.eval"))
    with zipfile.ZipFile(path) as archive:
        repacked = zstandard_zip({name: archive.read(name) for name in archive.namelist()})
    given, again = read_upload("x.eval", path.read_bytes()), read_upload("x.eval", repacked)
    assert len(again) == 10
    assert given == again
