"""Ways to make the files that people hand in by mistake, or in bad faith. Nothing large is kept anywhere."""

import io
import json
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
DATA = Path(__file__).parents[1] / "data"
GOOD_LOG = (DATA / "aiwolf" / "game9.log").read_bytes()
PRETTY_FACES = "<img src=x onerror=alert(1)> **[click](http://evil.example)** ![p](http://evil.example/p.png)"


def game(**changes: Any) -> dict[str, Any]:
    """A small game in the native shape, some of it replaced."""
    return {
        "gameId": "g",
        "players": [{"name": "Ann", "role": "VILLAGER"}, {"name": "Ben", "role": "MAFIA"}],
        "messages": [
            {"turn": 1, "roundNumber": 1, "playerName": "Ann", "message": "I suspect Ben, because of the vote."},
            {"turn": 2, "roundNumber": 1, "playerName": "Ben", "message": "Why me, Ann?"},
        ],
    } | changes


def native(**changes: Any) -> bytes:
    """The file of :func:`game`."""
    return json.dumps(game(**changes)).encode()


def said(text: str, **changes: Any) -> bytes:
    """A game whose only message is ``text``."""
    return native(messages=[{"playerName": "Ann", "message": text} | changes])


def canonical(**changes: Any) -> bytes:
    """A small game in Dramaturg's own JSON, some of it replaced."""
    body = {
        "format": "dramaturg-transcript",
        "version": 1,
        "game_id": "g",
        "source_format": "canonical",
        "players": [{"name": "Ann"}, {"name": "Ben"}],
        "messages": [{"id": "m1", "index": 0, "speaker": "Ann", "text": "Hello."}],
    }
    return json.dumps(body | changes).encode()


def lines(*values: Any) -> bytes:
    """JSON Lines."""
    return "\n".join(json.dumps(value) for value in values).encode()


def many_messages(count: int) -> bytes:
    """A native game of that many short messages."""
    return native(messages=[{"playerName": "Ann", "message": f"Word {number}."} for number in range(count)])


def many_rows(count: int, games: int = 1) -> bytes:
    """A table of that many messages, spread over games."""
    rows = "".join(f"g{number % games},Ann,Word {number}.\n" for number in range(count))
    return ("game,speaker,text\n" + rows).encode()


def zip_of(files: Mapping[str | zipfile.ZipInfo, bytes]) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def nested_zip(depth: int) -> bytes:
    """A game in that many zips, one inside the other."""
    data = GOOD_LOG
    for level in range(depth):
        data = zip_of({f"{level}.zip" if level else "game.log": data})
    return data


def link_in_zip() -> bytes:
    """A zip whose file is a symbolic link to one outside."""
    link = zipfile.ZipInfo("link.log")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zip_of({link: b"/etc/passwd"})


def encrypted_zip() -> bytes:
    """A zip that says it needs a password: bit 0 of the flags, in the file's header and in the directory."""
    data = bytearray(zip_of({"game.log": GOOD_LOG}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def zip_with_method(method: int) -> bytes:
    """A zip packed in a way that only its number tells."""
    data = bytearray(zip_of({"game.log": GOOD_LOG}))
    struct.pack_into("<H", data, 8, method)
    struct.pack_into("<H", data, data.index(b"PK\x01\x02") + 10, method)
    return bytes(data)


def zip_with_a_flipped_bit() -> bytes:
    """A zip whose content no longer matches its checksum."""
    data = bytearray(zip_of({"game.log": GOOD_LOG}))
    data[60] ^= 0xFF
    return bytes(data)


def zip_that_lies() -> bytes:
    """A bomb whose directory gives a harmless size."""
    data = bytearray(zip_of({"bomb.json": b" " * (20 * MIB)}))
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 1000)
    return bytes(data)


def eval_log(sample: bytes, header: bytes = b'{"eval": {"run_id": "r", "model": "m"}, "status": "success"}') -> bytes:
    """An ``.eval`` log of Inspect with one sample."""
    return zip_of({"header.json": header, "samples/1_epoch_1.json": sample})


def parquet(**columns: Any) -> bytes:
    """A Parquet table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
