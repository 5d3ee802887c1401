"""Files handed in by mistake, beside those of tests/faults/bad_inputs.py, whose words docs/bad-input.md holds."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from evaluation.readers import Limits, read_path, read_upload

DATA = Path(__file__).parents[2] / "data"
LOG = (DATA / "aiwolf" / "game9.log").read_bytes()
KNOWN = "See Guide, Formats; the simplest file is a CSV with the columns speaker and text."
AGAIN = "Export the transcript again."


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
    "only a mark of UTF-16": (b"\xff\xfe", f"The file is empty. {AGAIN}"),
    "an empty object": (b"{}", f"The JSON object is empty. No known format begins like that. {KNOWN}"),
    "a canonical file without players": (
        CANONICAL.encode(),
        "$.players: The value is missing. (2 faults in all.) Correct that value and try again.",
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
