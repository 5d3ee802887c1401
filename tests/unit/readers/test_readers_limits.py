import io
import json
import zipfile
from pathlib import Path

import pytest

from evaluation.readers import Limits, ReadResult, iter_paths, read_path, read_upload

LOG = (Path(__file__).parents[2] / "data" / "aiwolf" / "game9.log").read_bytes()
MIB = 1024 * 1024


def zip_of(files: dict[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def native(players: int = 1, messages: int = 1, text: str = "Hi.") -> bytes:
    body = {
        "players": [{"name": f"P{number}"} for number in range(players)],
        "messages": [{"playerName": "P0", "message": text}] * messages,
    }
    return json.dumps(body).encode()


def outcome(results: list[ReadResult]) -> dict[str, str]:
    return {result.name: str(result.error or "read") for result in results}


@pytest.mark.parametrize(
    ("data", "limits", "expected"),
    [
        (
            native(messages=11),
            Limits(messages=10),
            "The game has 11 messages, more than 10. Check that it is one game; split it if it holds several.",
        ),
        (
            native(players=11),
            Limits(players=10),
            "The game has 11 players, more than 10. Check that it is one game; split it if it holds several.",
        ),
        (
            native(text="x" * 11),
            Limits(message_characters=10),
            "messages[0]: Message 1 has 11 characters, more than 10. "
            "Check that the file keeps one message apart from the next.",
        ),
        (
            native(),
            Limits(json_depth=2),
            "The JSON is nested deeper than 2 levels. No transcript is like that; check that this is the right file.",
        ),
        (
            native(text="x" * 2 * MIB),
            Limits(file_bytes=MIB),
            "The file has 2.0 MiB, more than 1.0 MiB. Check that it is one game; split it if it holds several.",
        ),
        (
            b'{"gameId": 1, "messages": [1, 2, 3, 4]}',
            Limits(json_values=6),
            "The JSON holds more than 6 values. No transcript is like that; check that this is the right file.",
        ),
        (
            LOG,
            Limits(lines=10),
            "The file has 57 lines, more than 10. Check that it is one game; split it if it holds several.",
        ),
        (
            native().replace(b'"messages"', b'"votes": [1, 2, 3], "messages"'),
            Limits(messages=2),
            "The game has 3 votes, more than 2. Check that it is one game; split it if it holds several.",
        ),
        (
            LOG,
            Limits(messages=33),
            "The game has 34 messages, more than 33. Check that it is one game; split it if it holds several.",
        ),
        (
            LOG,
            Limits(players=4),
            "The game has 5 players, more than 4. Check that it is one game; split it if it holds several.",
        ),
    ],
    ids=[
        "messages",
        "players",
        "long message",
        "depth",
        "bytes",
        "values",
        "lines",
        "votes",
        "messages of a log",
        "players of a log",
    ],
)
def test_what_is_too_large_is_refused_with_both_numbers(data: bytes, limits: Limits, expected: str) -> None:
    (result,) = read_upload("x", data, limits)
    assert str(result.error) == expected


def test_just_within_the_limits_is_read() -> None:
    limits = Limits(messages=34, players=5, message_characters=300)
    (result,) = read_upload("x", LOG, limits)
    assert result.error is None


def test_too_many_files_in_a_folder(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.log").write_bytes(LOG)
    (result,) = read_path(tmp_path, Limits(files=3))
    assert "The folder holds more than 3 files." in str(result.error)


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


def test_content_that_does_not_match_its_checksum_is_refused() -> None:
    data = bytearray(zip_of({"a.log": LOG, "b.log": LOG}))
    data[60] ^= 0xFF
    results = read_upload("x.zip", bytes(data))
    assert "The file cannot be unpacked" in str(results[0].error)
    assert results[1].error is None


def test_many_files_that_are_too_much_together() -> None:
    files: dict[str | zipfile.ZipInfo, bytes] = {f"{number}.log": LOG for number in range(4)}
    results = outcome(read_upload("x.zip", zip_of(files), Limits(archive_bytes=3 * len(LOG))))
    assert list(results.values())[:3] == ["read"] * 3
    assert results["x.zip/3.log"].startswith("The zip unpacks to more than")


def test_too_many_files_in_a_zip() -> None:
    files: dict[str | zipfile.ZipInfo, bytes] = {f"{number}.log": LOG for number in range(4)}
    (result,) = read_upload("x.zip", zip_of(files), Limits(files=3))
    assert str(result.error) == "The zip holds more files than 3. Split it into several."


def test_a_zip_in_a_zip_is_opened_and_one_deeper_is_not() -> None:
    one = zip_of({"game.log": LOG})
    two = zip_of({"one.zip": one, "also.log": LOG})
    three = zip_of({"two.zip": two, "good.log": LOG})
    assert outcome(read_upload("three.zip", three)) == {
        "three.zip/good.log": "read",
        "three.zip/two.zip/also.log": "read",
        "three.zip/two.zip/one.zip": "Zips stand inside each other more than 2 deep. Unpack the inner ones.",
    }


def test_zips_side_by_side_are_not_inside_each_other() -> None:
    inner = zip_of({"game.log": LOG})
    broken = b"PK\x03\x04 broken"
    results = outcome(read_upload("x.zip", zip_of({"a.zip": broken, "b.zip": broken, "c.zip": inner, "d.zip": inner})))
    assert [name for name, result in results.items() if result == "read"] == [
        "x.zip/c.zip/game.log",
        "x.zip/d.zip/game.log",
    ]


def test_the_budget_of_files_counts_zips_inside() -> None:
    inner = zip_of({"a.log": LOG, "b.log": LOG})
    results = outcome(read_upload("x.zip", zip_of({"1.zip": inner, "2.zip": inner}), Limits(files=4)))
    assert results["x.zip/2.zip"] == "The zip holds more files than 0. Split it into several."


def test_the_same_file_twice_in_a_game_folder() -> None:
    # zipfile warns when asked for a name twice, so the second is written under another name of the same length.
    data = zip_of({"config.json": b"{}", "public_daytime_chat.txt": b"", "c0nfig.json": b"{}"})
    (result,) = read_upload("x.zip", data.replace(b"c0nfig.json", b"config.json"))
    assert str(result.error) == "It holds config.json twice. Pack it again."


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
