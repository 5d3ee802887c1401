"""Zips whose members are packed by Zstandard: Python before 3.14 neither reads nor writes them."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow

from evaluation.readers import read_upload

LOG = (Path(__file__).parents[2] / "data" / "aiwolf" / "game9.log").read_bytes()


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


def test_a_bomb_that_lies_about_its_size_stops_there() -> None:
    (result,) = read_upload("x.zip", zstandard_zip({"bomb.json": b" " * 2**20 * 50}, announced=1000))
    assert str(result.error) == ("The file cannot be unpacked: its size is not the one announced. Pack it again.")


def test_a_bomb_that_tells_its_size() -> None:
    (result,) = read_upload("x.zip", zstandard_zip({"bomb.json": b" " * 2**20 * 4}))
    assert "packed more than 100 to 1" in str(result.error)


def test_a_wrong_checksum() -> None:
    data = zstandard_zip({"a.log": LOG})
    crc = struct.pack("<L", zlib.crc32(LOG))
    (result,) = read_upload("x.zip", data.replace(crc, b"\1\2\3\4"))
    assert "its checksum is wrong" in str(result.error)


def test_what_is_no_zstandard_at_all() -> None:
    data = bytearray(zstandard_zip({"a.log": LOG}))
    data[40:60] = bytes(20)
    (result,) = read_upload("x.zip", bytes(data))
    assert "The file cannot be unpacked" in str(result.error)


def test_a_log_of_inspect_packed_so_reads_as_the_other_one() -> None:
    path = next((Path(__file__).parents[2] / "data" / "inspect_logs").glob("2025-*.eval"))
    with zipfile.ZipFile(path) as archive:
        repacked = zstandard_zip({name: archive.read(name) for name in archive.namelist()})
    given, again = read_upload("x.eval", path.read_bytes()), read_upload("x.eval", repacked)
    assert len(again) == 10
    assert given == again
