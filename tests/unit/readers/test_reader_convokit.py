import io
import json
import zipfile
from typing import Any

import pytest

from evaluation.readers import ReadResult, read_upload, read_uploads
from evaluation.transcript import Transcript

# As other people's corpora have it: numbers as text, speakers with metadata, a conversation named by its first id.
UTTERANCES: list[dict[str, Any]] = [
    {
        "id": "u1",
        "conversation_id": "u1",
        "speaker": "Ann",
        "text": "Hi",
        "reply_to": None,
        "timestamp": "1735725600",
        "meta": {"tone": 3},
    },
    {
        "id": "v1",
        "conversation_id": "v1",
        "speaker": "Moderator",
        "text": "Night.",
        "reply_to": None,
        "timestamp": None,
        "meta": {},
    },
    {
        "id": "u2",
        "conversation_id": "u1",
        "speaker": "Bob",
        "text": None,
        "reply_to": "u1",
        "timestamp": "page 7",
        "meta": {"channel": "team"},
    },
    {"id": "v2", "conversation_id": "v1", "speaker": "Ann", "text": "Ho", "reply_to": "v1", "timestamp": 1.5},
]
SPEAKERS = {"Ann": {"meta": {"role": "seer", "age": 30}, "vectors": []}, "Bob": {"meta": {}, "vectors": []}}
CONVERSATIONS = {"u1": {"meta": {"title": "First"}, "vectors": []}}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def corpus(rows: list[dict[str, Any]] = UTTERANCES, **files: Any) -> list[ReadResult]:
    parts = {"speakers": SPEAKERS, "conversations": CONVERSATIONS} | files
    given = [(f"{name}.json", json.dumps(content).encode()) for name, content in parts.items()]
    return read_uploads([("utterances.jsonl", lines(rows)), *given])


def transcripts(results: list[ReadResult]) -> list[Transcript]:
    return [result.transcript for result in results if result.transcript]


def test_a_corpus_of_two_conversations() -> None:
    results = corpus()
    assert [(result.name, result.format, result.error) for result in results] == [
        ("utterances.jsonl and 2 more/u1", "convokit", None),
        ("utterances.jsonl and 2 more/v1", "convokit", None),
    ]
    first, second = transcripts(results)
    assert [(m.id, m.speaker, m.channel, m.text, m.reply_to, m.metadata) for m in first.messages] == [
        ("u1", "Ann", "public", "Hi", None, {"tone": 3}),
        ("u2", "Bob", "team", "", "u1", {"channel": "team", "timestamp": "page 7"}),
    ]
    assert first.messages[0].sent_at is not None
    assert first.messages[0].sent_at.isoformat() == "2025-01-01T10:00:00+00:00"
    assert first.metadata == {"title": "First"}
    assert [(p.name, p.role, p.alignment, p.persona) for p in first.players] == [
        ("Ann", "seer", "town", {"role": "seer", "age": 30}),
        ("Bob", None, None, None),
    ]
    assert [(m.speaker, m.channel) for m in second.messages] == [("Moderator", "system"), ("Ann", "public")]


def test_the_utterances_alone_and_a_zip_say_the_same() -> None:
    alone = transcripts(read_upload("utterances.jsonl", lines(UTTERANCES)))
    assert [len(transcript.messages) for transcript in alone] == [2, 2]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("my-corpus/utterances.jsonl", lines(UTTERANCES))
        archive.writestr("my-corpus/speakers.json", json.dumps(SPEAKERS))
        archive.writestr("my-corpus/conversations.json", json.dumps(CONVERSATIONS))
        archive.writestr("my-corpus/index.json", "{}")
    zipped = read_upload("x.zip", buffer.getvalue())
    assert [result.name for result in zipped] == ["x.zip/my-corpus/u1", "x.zip/my-corpus/v1"]
    assert transcripts(zipped) == transcripts(corpus())


def test_corpora_from_before_version_2() -> None:
    rows = [{"id": "a", "root": "a", "user": "Ann", "text": "Hi", "reply-to": None, "timestamp": 0}]
    results = read_uploads([("utterances.jsonl", lines(rows)), ("users.json", b'{"Ann": {"age": 30}}')])
    (transcript,) = transcripts(results)
    assert transcript.player("Ann").persona == {"age": 30}


@pytest.mark.parametrize("name", ["speakers.json", "conversations.json"])
def test_one_of_the_other_files_alone(name: str) -> None:
    (result,) = read_upload(name, json.dumps(SPEAKERS).encode())
    assert "This is one file of a game in the format convokit" in str(result.error)


def test_the_name_alone_makes_no_corpus() -> None:
    results = read_uploads([("utterances.jsonl", b"name,text\nAnn,Hi\n"), ("index.json", b"{}")])
    assert [(result.name, result.format) for result in results] == [("utterances.jsonl", "table"), ("index.json", None)]


FAULTS: list[tuple[list[ReadResult], str]] = [
    (
        corpus([UTTERANCES[0] | {"id": None, "conversation_id": None}]),
        "$.conversation_id: Found nothing, expected the conversation's id. Correct that value and try again.",
    ),
    (
        corpus([UTTERANCES[0], UTTERANCES[0] | {"speaker": None}]),
        "line 2: $.speaker: Found nothing, expected the speaker's id. Say who speaks.",
    ),
    (
        corpus([UTTERANCES[0], UTTERANCES[0]]),
        "$: The message id 'u1' occurs twice. Correct that value and try again.",
    ),
    (
        corpus([UTTERANCES[1]]),
        "Nobody speaks but the system. Export the whole conversation.",
    ),
    (
        corpus(speakers=[1]),
        "speakers.json: $: Found a list of 1, expected an object. Correct that value and try again.",
    ),
    (
        corpus(conversations={"u1": {"meta": 7}}),
        "conversations.json: $.u1.meta: Found the number 7, expected an object. Correct that value and try again.",
    ),
]


@pytest.mark.parametrize(("results", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_a_broken_corpus(results: list[ReadResult], expected: str) -> None:
    assert str(results[0].error) == expected
