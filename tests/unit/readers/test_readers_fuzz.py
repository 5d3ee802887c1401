"""Whatever the bytes are, reading ends with a transcript or with one of our errors."""

import io
import json
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.readers import Limits, read_path, read_upload
from evaluation.transcript import Transcript
from tests.unit.readers.trace_samples import SAMPLES

DATA = Path(__file__).parents[2] / "data"
LLMAFIA = DATA / "llmafia" / "games" / "0008"
MATCH = DATA / "llm_werewolf" / "matches" / "werewolf_match_2025-02-02_0.json"
(LOG,) = read_path(DATA / "aiwolf" / "game9.log")
NATIVE = {
    "gameId": "g",
    "timestamp": "2025-01-01T00:00:00Z",
    "metadata": {"playerCount": 2, "cost": {"totalCost": 1.5, "totalInputTokens": 10, "cacheHitRate": 0.5}},
    "players": [{"name": "Ann", "role": "MAFIA", "isAlive": True}, {"name": "Bob", "role": "VILLAGER"}],
    "messages": [
        {"turn": 1, "roundNumber": 1, "playerName": "Ann", "message": "Hi.", "timestamp": "2025-01-01T00:00:00Z"},
        {"playerName": "Bob", "message": "Yes?", "inReplyToId": "x", "inReplyToPlayer": "Ann"},
    ],
    "votes": [{"roundNumber": 1, "voterName": "Ann", "targetName": "Bob", "justification": None}],
}
FILES = [
    json.dumps(NATIVE).encode(),
    LOG.transcript.to_json().encode() if LOG.transcript else b"",
    MATCH.read_bytes()[:20_000],
    (DATA / "werewolf_gpt" / "gpt-4-001.md").read_bytes(),
    (DATA / "aiwolf" / "game9.log").read_bytes(),
]
PARTS = {path.name: path.read_bytes() for path in LLMAFIA.iterdir()}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


def zip_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def check(data: bytes) -> None:
    results = read_upload("upload", data, Limits(messages=2000))
    assert results
    for result in results:
        if result.transcript is None:
            assert isinstance(result.error, InputError)
            assert result.error.message
            assert result.error.remedy
        else:
            assert result.error is None
            assert Transcript.from_json(result.transcript.to_json()) == result.transcript


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes cut short, with some overwritten, left out or put in."""
    at = draw(st.integers(0, len(data)))
    length = draw(st.sampled_from([0, 1, 2, 20, 300]))
    filling = draw(
        st.binary(max_size=8) | st.sampled_from([b"\n", b'"', b"{", b"\\ud800", b"\0", b"NaN", b": ", b"**"])
    )
    return draw(st.sampled_from([data[:at], data[:at] + filling + data[at + length :]]))


@st.composite
def reshaped(draw: st.DrawFn, document: Any) -> Any:
    """The JSON value with something else in one or two places."""
    body = deepcopy(document)
    for _ in range(draw(st.integers(1, 2))):
        here = body
        while True:
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(here[key], (dict, list)) and draw(st.integers(0, 4)):
                here = here[key]
                continue
            if isinstance(here, dict) and draw(st.booleans()):
                del here[key]
            else:
                here[key] = draw(json_values)
            break
    return body


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
@example(b"PK\x05\x06" + b"\0" * 18)
@example(b"[00:00:00] ")
@example(b"\xfe\xff\xd8\x00")
def test_any_bytes(data: bytes) -> None:
    check(data)


@given(st.data())
def test_a_game_folder_with_one_file_damaged(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(PARTS)))
    check(zip_of(PARTS | {name: data.draw(damaged(PARTS[name]))}))


@given(st.data())
def test_a_damaged_zip(data: st.DataObject) -> None:
    check(data.draw(damaged(zip_of({"a.log": FILES[4], "b/c.json": FILES[0]}))))


@given(reshaped(json.loads(PARTS["config.json"])))
def test_configurations_of_other_shapes(body: Any) -> None:
    check(zip_of(PARTS | {"config.json": json.dumps(body).encode()}))


@given(
    st.lists(
        st.sampled_from(["status", "talk", "whisper", "vote", "attack", "execute", "divine", "guard", "result", "x"]),
        max_size=8,
    ),
    st.data(),
)
def test_logs_of_any_events(kinds: list[str], data: st.DataObject) -> None:
    field = st.sampled_from(["0", "1", "2", "-1", "9", "", "ALIVE", "true", "Ann", "a b"])
    lines = ["0,status,1,SEER,ALIVE,t,Ann", "0,talk,0,0,1,Hi"]
    lines += [",".join(["1", kind, *data.draw(st.lists(field, max_size=6))]) for kind in kinds]
    check("\n".join(lines).encode())


@given(
    st.lists(
        st.tuples(st.integers(0, 25), st.integers(0, 61), st.sampled_from(["day", "night", "manager"])), max_size=12
    )
)
def test_game_folders_of_any_clocks(lines: list[tuple[int, int, str]]) -> None:
    texts = {"day": "", "night": "", "manager": ""}
    said = {"day": "Lee: hi", "night": "Game-Manager: Nighttime has ended, now it's time to vote!"}
    said["manager"] = "Game-Manager: Now it's Daytime for 3 minutes"
    for hour, minute, file in lines:
        texts[file] += f"[{hour:02}:{minute:02}:00] {said[file]}\n"
    chats = {
        "day": "public_daytime_chat.txt",
        "night": "public_nighttime_chat.txt",
        "manager": "public_manager_chat.txt",
    }
    check(zip_of(PARTS | {chats[file]: text.encode() for file, text in texts.items()}))


CHAT = {
    "id": 1,
    "model": "m",
    "messages": [
        {"role": "system", "content": "x"},
        {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "Hi"}, "Ho", {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
    ],
}
SHAREGPT = {
    "id": "c",
    "system": "x",
    "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}],
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "run_id": "r", "model": "m", "created": "2025-01-01T00:00:00Z"},
    "plan": {},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "messages": CHAT["messages"],
            "attachments": {"a": "text"},
            "model_usage": {"m": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}},
            "scores": {"s": {"value": 1.5}},
        }
    ],
}
NOTEBOOK = {
    "nbformat": 4,
    "cells": [
        {
            "outputs": [
                {"text": ["model = m\n"]},
                {"data": {"text/plain": ["Ann acts: [TALK]\n", " > Hi\n"]}},
                {"data": {"text/plain": "Ann --> Bob: [CONVERSATION]\n > Hi\nBob acts: [THINK]\n > Hm"}},
            ]
        }
    ],
}
ROWS = [
    {"game": "1", "name": "Ann", "text": "Hi", "day": 1, "time": "2025-01-01", "to": "Bob; Cid", "reply_to": None},
    {"game": "1", "name": "Bob", "text": "Ho", "day": "Day 2", "time": 1735725600, "to": None, "reply_to": "Ann"},
    {"game": "2", "name": "Cid", "text": "He", "day": None, "time": None, "to": ["Ann"], "reply_to": "m1"},
]
TABLE = 'game,name,text,day,channel\n1,Ann,"Hi, ""all""\nof you",1,public\n1,Bob,Ho,Day 2,mafia\n2,Cid,He,,system\n'
# Real traces of up to 20 kB, and all that were made for the tests.
TRACED = {name: data for name, (_, data) in SAMPLES.items() if len(data) < 20_000 and not data.startswith(b"PAR1")}
SHAPES = [
    *(NATIVE, json.loads(FILES[1]), json.loads(MATCH.read_text(encoding="utf-8")) | {"extra": [1, {"a": None}]}),
    *(CHAT, [CHAT, CHAT], CHAT["messages"], SHAREGPT, [SHAREGPT], INSPECT, NOTEBOOK, ROWS),
    *(json.loads(data) for data in TRACED.values() if data.startswith((b"{", b"[")) and b"}\n{" not in data),
]


def lines_of(values: Any) -> bytes:
    return "\n".join(json.dumps(value) for value in values).encode()


def parquet_of(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{key: str(value) for key, value in row.items()} for row in rows]), sink)
    return sink.getvalue()


def log_of(header: Any, sample: Any) -> bytes:
    return zip_of({"header.json": json.dumps(header).encode(), "samples/1_epoch_1.json": json.dumps(sample).encode()})


def of_one(shapes: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(shapes).flatmap(reshaped)


@given(of_one(SHAPES))
def test_json_of_other_shapes(body: Any) -> None:
    check(json.dumps(body).encode())


@given(of_one([[CHAT, CHAT], CHAT["messages"], [SHAREGPT] * 2, ROWS]))
def test_json_lines_of_other_shapes(rows: Any) -> None:
    check(lines_of(rows))


@given(reshaped({"header": INSPECT, "sample": INSPECT["samples"][0]}))
def test_packed_logs_of_other_shapes(body: Any) -> None:
    check(log_of(body.get("header") if isinstance(body, dict) else body, body.get("sample")))


WHOLE = [
    *FILES,
    *(json.dumps(body).encode() for body in (INSPECT, NOTEBOOK)),
    *(lines_of([CHAT, CHAT]), lines_of(ROWS), TABLE.encode(), TABLE.encode("utf-16"), parquet_of(ROWS)),
    *TRACED.values(),
]


@given(st.sampled_from(WHOLE).flatmap(damaged))
def test_files_damaged(data: bytes) -> None:
    check(data)


@given(st.lists(st.lists(st.sampled_from(["Ann", "", '"', "1", "Day 2", "x\ny", "\0", "=1"]), max_size=4), max_size=4))
def test_tables_of_any_cells(rows: list[list[str]]) -> None:
    check("\n".join(["name,text,round,time", *(",".join(row) for row in rows)]).encode())


@given(
    st.lists(
        st.sampled_from(["Ann", "Bob", " acts: [", " --> ", ": [", "TALK]", "CONVERSATION]", "\n", " > ", "-", "x"])
    )
)
def test_notebooks_that_show_anything(pieces: list[str]) -> None:
    shown = {"data": {"text/plain": "Ann acts: [TALK]\n > Hi\n" + "".join(pieces)}}
    check(json.dumps({"nbformat": 4, "cells": [{"outputs": [shown]}]}).encode())
