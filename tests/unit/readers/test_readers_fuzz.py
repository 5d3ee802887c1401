"""Whatever the bytes are, reading ends with a transcript or with one of our errors.

``tests/faults/fuzz.py`` changes whole files of each format; here are pieces of formats in any order.
"""

import json
from copy import deepcopy
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.readers import Limits, read_upload
from evaluation.transcript import Transcript
from tests.faults.bad_files import zip_of
from tests.unit.readers.reading import DATA
from tests.unit.readers.test_readers_matrix import MADE

PARTS = {path.name: path.read_bytes() for path in (DATA / "llmafia" / "games" / "0008").iterdir()}
MATCH = json.loads((DATA / "llm_werewolf" / "matches" / "werewolf_match_2025-02-02_0.json").read_text(encoding="utf-8"))
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "messages": [{"role": "user", "content": "Hi"}],
    "model_usage": {"m": {"input_tokens": 1}},
}
INSPECT = {"status": "success", "eval": {"task": "t", "run_id": "r", "model": "m"}, "plan": {}, "samples": [SAMPLE]}
SHAPES = [MATCH, INSPECT]
MADE_SHORT = [data for _, data in MADE.values() if len(data) < 20_000]
SHAPES += [json.loads(data) for data in MADE_SHORT if data.startswith((b"{", b"[{")) and b"}\n{" not in data]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


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


@given(st.sampled_from(SHAPES).flatmap(reshaped))
def test_json_of_other_shapes(body: Any) -> None:
    check(json.dumps(body).encode())
