import io
import json
import zipfile
from typing import Any

import pytest

from evaluation.readers import read_upload
from evaluation.transcript import Cost
from tests.unit.readers.reading import read, refusal

SAMPLE: dict[str, Any] = {
    "id": "s",
    "epoch": 2,
    "target": "x",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "attachment://abc", "source": "input"},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "Hm."},
                {"type": "text", "text": "attachment://abc"},
                {"type": "image", "image": "attachment://img"},
            ],
            "tool_calls": [{"id": "1", "function": "search", "arguments": {"q": "wolf"}, "type": "function"}],
        },
        {"role": "tool", "content": "Found.", "function": "search"},
    ],
    "attachments": {"abc": "A long text."},
    "model_usage": {
        # 100 tokens in all, 20 of them out, so 80 in, whatever of them stood in the cache.
        "big": {"input_tokens": 30, "input_tokens_cache_read": 50, "output_tokens": 20, "total_tokens": 100},
        "judge": {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25, "total_cost": 0.5},
    },
}
LOG: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "run_id": "run", "model": "big", "created": "2025-01-01T10:00:00+01:00"},
    "plan": {},
    "samples": [SAMPLE],
}


def packed(files: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return buffer.getvalue()


def test_parts_tools_and_attachments() -> None:
    transcript = read(LOG)
    assert transcript.game_id == "run-s-2"
    assert [(m.speaker, m.channel, m.channel_name, m.text) for m in transcript.messages] == [
        ("system", "system", None, "Be brief."),
        ("user", "public", None, "A long text."),
        ("assistant", "private", "thoughts", "Hm."),
        ("assistant", "public", None, "A long text.\n[image]"),
        ("assistant", "system", "tool", 'search({"q": "wolf"})'),
        ("tool", "system", "tool", "Found."),
    ]
    assert transcript.player_names == ("user", "assistant")


def test_the_cost_is_the_sum_over_the_models() -> None:
    # 80 + 20 in, 50 of them from the cache, 20 + 5 out.
    assert read(LOG).cost == Cost(
        total_usd=0.5, input_tokens=100, cached_tokens=50, output_tokens=25, cache_hit_rate=0.5
    )


def test_nan_reads_as_null_in_both_kinds() -> None:
    sample = SAMPLE | {"scores": {"f1": {"value": "@"}}}
    text = json.dumps(LOG | {"samples": [sample]}).replace('"@"', "NaN")
    transcript = read(text)
    assert transcript.metadata["scores"] == {"f1": {"value": None}}
    files = {"header.json": LOG, "samples/s_epoch_2.json": json.dumps(sample).replace('"@"', "-Infinity")}
    assert read(packed(files)).messages == transcript.messages


def test_a_log_that_is_still_being_written_has_no_header_yet() -> None:
    files = {"_journal/start.json": {"eval": LOG["eval"]}, "samples/s_epoch_2.json": SAMPLE}
    assert read(packed(files)).game_id == "run-s-2"


def test_one_broken_sample_leaves_the_others_standing() -> None:
    files = {"header.json": LOG, "samples/1_epoch_1.json": "{", "samples/2_epoch_1.json": SAMPLE}
    first, second = read_upload("log.eval", packed(files))
    assert first.name == "log.eval/1_epoch_1"
    assert str(first.error).startswith("samples/1_epoch_1.json: line 1, column 2: Not valid JSON")
    assert second.error is None


MUTE, NUMBER = SAMPLE | {"messages": []}, SAMPLE | {"messages": [{"role": "user", "content": 7}]}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (LOG | {"samples": []}, "$.samples: The log holds no samples."),
        (LOG | {"samples": [{"messages": []}]}, "$.samples[0].id: Found nothing, expected the sample's id."),
        (LOG | {"samples": [MUTE]}, "Nobody speaks but the system."),
        (LOG | {"samples": [NUMBER]}, "$.samples[0].messages[0].content: Found the number 7, expected text"),
        (packed({"header.json": [1], "samples/1_epoch_1.json": SAMPLE}), "header.json: $: Found a list of 1 item"),
    ],
)
def test_a_broken_log(log: Any, expected: str) -> None:
    assert refusal(log).startswith(expected)
