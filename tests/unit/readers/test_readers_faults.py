"""What people hand in by mistake, and the exact words that each gets."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from evaluation.readers import Limits, read_path, read_upload

DATA = Path(__file__).parents[2] / "data"
LOG = (DATA / "aiwolf" / "game9.log").read_bytes()
KNOWN = "The Guide page lists the formats that are known; a table with the columns speaker and text is enough."
CHOOSE = "Choose the transcript itself."
AGAIN = "Export the game again."
DATA_INSTEAD = (
    "Export the chat as data: Telegram Desktop as machine-readable JSON, Discord as JSON or plain text, WhatsApp as "
    ".txt without media, Slack as its zip; or copy the text of the page into a .txt file."
)
UTF8 = "Save the file as UTF-8 and try again."


def native(text: str) -> bytes:
    """A native file whose only message is ``text``, which is put in as it stands, escapes and all."""
    body = '{"gameId": "g", "players": [{"name": "Ann"}], "messages": [{"playerName": "Ann", "message": "%s"}]}'
    return (body % text).encode()


def zip_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


CANONICAL = json.dumps({"format": "dramaturg-transcript", "version": 1, "game_id": "g", "source_format": "x"})

FAULTS = {
    "empty": (b"", f"The file is empty. {AGAIN}"),
    "only space": (b" \n\t ", f"The file is empty. {AGAIN}"),
    "only a mark of UTF-16": (b"\xff\xfe", f"The file is empty. {AGAIN}"),
    "prose": (b"Dear all,\nhello", f'The text begins "Dear all,". No reader knows this shape. {KNOWN}'),
    "HTML": (b"<html><body>", f"This is a web page, not a transcript. {DATA_INSTEAD}"),
    "JSON of another shape": (
        b'{"name": "x", "version": 2}',
        f"The JSON object has the keys name, version. No reader knows this shape. {KNOWN}",
    ),
    "an empty object": (b"{}", f"The JSON object is empty. No reader knows this shape. {KNOWN}"),
    "a list": (b"[1, 2]", f"The JSON is a list of 2. No reader knows this shape. {KNOWN}"),
    "JSON cut short": (
        native("Hi.")[:-30],
        "line 1, column 61: Not valid JSON: Unterminated string. "
        "The end of the file seems to be missing; export or copy it again.",
    ),
    "JSON with a missing comma": (
        b'{"gameId": "g"\n "players": []}',
        "line 2, column 2: Not valid JSON: Expecting ',' delimiter. "
        "Correct the file at that place, or export it again.",
    ),
    "a key twice": (
        b'{"gameId": "g", "messages": [{"message": "a", "message": "b"}]}',
        "$.messages[0]: The key 'message' occurs twice in one object. Keep one of the two.",
    ),
    "NaN": (
        b'{"gameId": "g", "messages": [], "cost": {"total usd": NaN}}',
        "$.cost['total usd']: NaN is not a usable number. Use a finite number or null.",
    ),
    "infinity": (
        b'{"gameId": "g", "messages": [], "metadata": [1, -1e999]}',
        "$.metadata[1]: -1e999 is not a usable number. Use a finite number or null.",
    ),
    "a number of 5,000 digits": (
        b'{"gameId": "g", "messages": [], "turns": ' + b"9" * 5000 + b"}",
        f"$.turns: {'9' * 59}… is not a usable number. Use a finite number or null.",
    ),
    "nested without end": (
        b"[" * 100_000,
        "The JSON is nested deeper than 100 levels. No transcript is like that; check that this is the right file.",
    ),
    "nested too deep": (
        b'{"gameId": "g", "messages": ' + b"[" * 200 + b"]" * 200 + b"}",
        "The JSON is nested deeper than 100 levels. No transcript is like that; check that this is the right file.",
    ),
    "a lone surrogate": (
        native("Hi \\ud83d there"),
        "$.messages[0].message: The text holds half of a surrogate pair (U+D83D), which is not a character. "
        "Remove it, or export the file as UTF-8.",
    ),
    "a lone surrogate in a key": (
        b'{"gameId": "g", "messages": [], "\\udc00": 1}',
        "$: The text holds half of a surrogate pair (U+DC00), which is not a character. "
        "Remove it, or export the file as UTF-8.",
    ),
    "Windows' code page": (
        b'{"gameId": "g",\n"x": "caf\xe9"}',
        f"line 2: Byte 0xE9 (number 26 of the file) is not valid UTF-8. {UTF8}",
    ),
    "UTF-16 cut in half": (
        b"\xff\xfe" + "abc".encode("utf-16-le")[:-1],
        f"line 1: Byte 0x63 (number 7 of the file) is not valid UTF-16. {UTF8}",
    ),
    "UTF-32": ("{}".encode("utf-32"), f"The file is written in UTF-32. {UTF8}"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0", f"This is a PNG image, not a transcript. {CHOOSE}"),
    "a PDF": (b"%PDF-1.7 ...", f"This is a PDF document, not a transcript. {CHOOSE}"),
    "a gzip": (b"\x1f\x8b\x08\0", f"This is a gzip archive, not a transcript. {CHOOSE}"),
    "a binary": (
        b"\x01\x02\0\0\0\x03" * 50,
        f"This is a binary file, not a transcript. {CHOOSE[:-1]}; if this is it, save it as UTF-8 without null bytes.",
    ),
    "a later version": (
        CANONICAL.replace('"version": 1', '"version": 9').encode(),
        "$.version: Version 9 of the format is not known. Update Dramaturg.",
    ),
    "a canonical file without players": (
        CANONICAL.encode(),
        "$.players: The value is missing. (2 faults in all.) Correct that value and try again.",
    ),
    "a damaged zip": (
        b"PK\x03\x04 nothing more",
        "The zip is damaged: its end is missing. Pack or download it again.",
    ),
    "an empty zip": (zip_of({}), "There is no transcript in it. Put the games into it."),
    "a zip of clutter": (
        zip_of({"__MACOSX/._game.log": b"x", ".DS_Store": b"x", "a/Thumbs.db": b"x"}),
        "There is no transcript in it. Put the games into it.",
    ),
    "a zip of licences": (
        zip_of({"LICENSE": b"MIT", "a/README.md": b"Hello"}),
        "There is no transcript in it. Put the games into it.",
    ),
    "an Office document": (
        zip_of({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}),
        "This is an Office document, not a transcript. Export it as CSV or JSON.",
    ),
}


@pytest.mark.parametrize(("data", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_mistake_gets_a_reason_and_a_remedy(data: bytes, expected: str) -> None:
    (result,) = read_upload("upload", data)
    assert result.transcript is None
    assert str(result.error) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_encodings_that_editors_write(encoding: str) -> None:
    (result,) = read_upload("x", native("Grüße — 你好").decode().encode(encoding))
    assert result.transcript is not None
    assert result.transcript.messages[0].text == "Grüße — 你好"


def test_line_endings_do_not_matter() -> None:
    (unix,), (dos,) = read_upload("a", LOG), read_upload("b", LOG.replace(b"\n", b"\r\n"))
    assert unix.transcript == dos.transcript


def test_the_file_name_does_not_matter() -> None:
    (first,), (second,) = read_upload("game9.log", LOG), read_upload("holiday.png", LOG)
    assert first.transcript == second.transcript


def test_markup_in_messages_stays_as_it_is() -> None:
    (result,) = read_upload("x", native("<script>alert(1)</script> **bold** \\u0007 {{x}}"))
    assert result.transcript is not None
    assert result.transcript.messages[0].text == "<script>alert(1)</script> **bold** \x07 {{x}}"


def test_the_other_files_of_a_zip_go_in() -> None:
    results = read_upload(
        "all.zip", zip_of({"b/bad.json": b"{", "b/good.log": LOG, "a/.hidden": b"x", "a/LICENSE": b"x"})
    )
    assert [(r.name, r.error is None) for r in results] == [("all.zip/b/bad.json", False), ("all.zip/b/good.log", True)]


def test_the_other_files_of_a_folder_go_in(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "good.log").write_bytes(LOG)
    (tmp_path / "bad.bin").write_bytes(b"\0\1\2\0\0")
    (tmp_path / "readme.txt").write_bytes(b"Hello")
    (tmp_path / "noticed.txt").write_bytes(b"Hello")
    results = {r.name.partition("/")[2]: r.error is None for r in read_path(tmp_path)}
    assert results == {"bad.bin": False, "noticed.txt": False, "sub/good.log": True}


def test_a_path_that_is_not_there() -> None:
    (result,) = read_path("no/such/game.json")
    assert result.name == "game.json"
    assert str(result.error) == "no/such/game.json: There is no such file or folder. Check the path."


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b"])
def test_a_path_that_cannot_be(path: str) -> None:
    (result,) = read_path(path)
    assert result.error is not None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (direct,), (inside,) = read_path(tmp_path / "pipe"), read_path(tmp_path)
    assert "This is not a regular file." in str(direct.error)
    assert "This is not a regular file." in str(inside.error)


def test_a_name_of_bytes_that_are_no_characters(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/game-\xff.log", "wb") as stream:
        stream.write(LOG)
    (result,) = read_path(tmp_path)
    assert result.error is None
    assert result.name.endswith("/game-?.log")


def test_a_link_to_the_folder_above_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "game.log").write_bytes(LOG)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(read_path(tmp_path)) == 1


def test_an_empty_folder(tmp_path: Path) -> None:
    (result,) = read_path(tmp_path)
    assert str(result.error) == "There is no transcript in it. Put the games into it."


def test_a_large_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    (result,) = read_path(path)
    assert str(result.error) == (
        "The file has 200.0 MiB, more than 20.0 MiB. Check that it is one game; split it if it holds several."
    )


def test_errors_name_no_more_than_a_line_of_what_they_found() -> None:
    for data in (
        b"x" * 100_000,
        native("x").replace(b'"Ann", "m', b'"' + b"Z" * 150 + b'", "m'),
        b'{"' + b"k" * 9999 + b'":1}',
    ):
        (result,) = read_upload("x", data, Limits())
        assert len(str(result.error)) < 400
