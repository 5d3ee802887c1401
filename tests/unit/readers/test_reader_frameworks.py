"""Files of agent frameworks and simulators: speakers, channels and what is left out."""

import io
import json
import zipfile
from collections import Counter
from typing import Any

import pytest

from evaluation.readers import Limits, read_upload
from evaluation.transcript import Transcript
from tests.unit.readers.trace_samples import (
    AGENTVERSE,
    CAMEL,
    CAMEL_LOG,
    DIALOGUES,
    SAMPLES,
    lines,
    parquet,
    real,
)


def games(data: bytes) -> list[Transcript]:
    results = read_upload("file", data)
    assert [str(result.error) for result in results if result.error] == []
    return [result.transcript for result in results if result.transcript]


def told(data: bytes) -> list[tuple[str, str, str]]:
    (transcript,) = games(data)
    return [(message.channel, message.speaker, message.text) for message in transcript.messages]


def test_langgraph_state() -> None:
    found = told(SAMPLES["langgraph"][1])
    assert [(channel, speaker) for channel, speaker, _ in found] == [
        ("public", "user"),
        ("system", "assistant"),
        ("system", "Web-Search"),
        ("public", "assistant"),
    ]


def test_langgraph_history_is_newest_first_and_a_message_streamed_in_pieces_is_one() -> None:
    asked = {"type": "human", "content": "Who?", "id": "1"}
    pieces = [{"type": "AIMessageChunk", "content": text, "id": "2", "name": "ann"} for text in ("Bo", "b.")]
    history = [
        {"values": {"messages": [asked, *pieces]}, "next": [], "created_at": "2026-01-01T00:00:02+00:00"},
        {"values": {"messages": [asked]}, "next": ["ann"], "created_at": "2026-01-01T00:00:01+00:00"},
    ]
    (transcript,) = games(lines(history))
    assert [(m.speaker, m.text) for m in transcript.messages] == [("user", "Who?"), ("ann", "Bob.")]
    assert [m.sent_at.second for m in transcript.messages if m.sent_at] == [1, 2]


def test_autogen_history_keeps_what_was_said_twice() -> None:
    assert Counter(channel for channel, _, _ in told(SAMPLES["autogen"][1])) == {"public": 4, "system": 2}


def test_autogen_team_state_reads_the_managers_thread() -> None:
    (transcript,) = games(SAMPLES["autogen, team"][1])
    assert [(m.channel, m.speaker, m.recipients, m.text) for m in transcript.messages] == [
        ("public", "user", (), "Who is it?"),
        ("private", "Ann", (), "Bob was silent."),
        ("public", "Ann", (), "Bob."),
        ("private", "Ann", ("Ben",), "Your turn, Ben."),
        ("public", "Ben", (), "Bob."),
    ]
    assert transcript.cost is not None
    assert transcript.cost.input_tokens == 4


def test_autogen_summary_of_a_tool_is_not_said_again() -> None:
    messages = [
        {"source": "user", "type": "TextMessage", "content": "Weather?"},
        {"source": "Ann", "type": "ToolCallRequestEvent", "content": [{"id": "1", "name": "w", "arguments": "{}"}]},
        {
            "source": "Ann",
            "type": "ToolCallExecutionEvent",
            "content": [{"call_id": "1", "content": "Rain", "name": "w"}],
        },
        {"source": "Ann", "type": "ToolCallSummaryMessage", "content": "Rain"},
    ]
    assert told(lines(*messages)) == [
        ("public", "user", "Weather?"),
        ("system", "Ann", "w({})"),
        ("system", "w", "Rain"),
    ]


@pytest.mark.parametrize(("name", "count", "step"), [("4", 17, "8"), ("12", 20, "16")])
def test_who_and_when_keeps_the_step_at_fault(name: str, count: int, step: str) -> None:
    (transcript,) = games(real(f"who_when/hand-crafted_{name}.json"))
    assert len(transcript.messages) == count
    assert transcript.metadata["mistake_step"] == step
    at_fault = next(m for m in transcript.messages if m.metadata["step"] == int(step))
    assert at_fault.speaker == transcript.metadata["mistake_agent"]
    assert "Orchestrator" in transcript.player_names
    assert any(m.recipients == ("WebSurfer",) for m in transcript.messages)


def test_who_and_when_terminals_are_not_players() -> None:
    (transcript,) = games(real("who_when/algorithm-generated_1.json"))
    assert set(transcript.player_names) == {"Excel_Expert", "BusinessLogic_Expert", "DataVerification_Expert"}
    assert Counter(m.channel for m in transcript.messages) == {"public": 4, "system": 2}


@pytest.mark.parametrize(
    ("sample", "task", "answer"),
    [("crewai", "Find the wolf.", "It is Bob."), ("crewai, lines", 'Find the "wolf".', 'It is Bob.\nHe said "moo".')],
)
def test_crewai_logs(sample: str, task: str, answer: str) -> None:
    assert told(SAMPLES[sample][1]) == [("public", "manager", task), ("public", "Seer", answer)]


def test_concordia_page() -> None:
    (transcript,) = games(SAMPLES["concordia"][1])
    assert transcript.player_names == ("Alice Lewis", "Jack Taylor")
    assert [(m.round, m.channel, m.speaker) for m in transcript.messages] == [
        (0, "public", "Jack Taylor"),
        (0, "public", "Alice Lewis"),
        (1, "system", "Jack Taylor"),
        (1, "system", "Alice Lewis"),
    ]
    assert transcript.messages[0].text == "Ready for a pint after this, Alice?"


def test_concordia_json() -> None:
    assert told(SAMPLES["concordia, json"][1]) == [
        ("system", "game master", "It is night."),
        ("public", "Ann", "Shall we?"),
        ("public", "Ben", "Let us go."),
    ]


@pytest.mark.parametrize(("name", "count"), [("debate0", 6), ("deception0", 18), ("content_moderation0", 18)])
def test_chatarena_short(name: str, count: int) -> None:
    (transcript,) = games(real(f"chatarena/{name}.json"))
    assert (len(transcript.messages), len(transcript.players)) == (count, 2)


def test_chatarena_channels() -> None:
    (transcript,) = games(SAMPLES["chatarena"][1])
    assert [(m.channel, m.speaker, m.recipients) for m in transcript.messages] == [
        ("system", "Moderator", ()),
        ("private", "Ann", ("Ben",)),
        ("public", "Ben", ()),
    ]


@pytest.mark.parametrize("sample", ["character.ai", "character.ai, older", "sillytavern"])
def test_chats_with_characters(sample: str) -> None:
    assert told(SAMPLES[sample][1]) == [("public", "Kim", "Who did it?"), ("public", "Holmes", "Elementary.")]
    (transcript,) = games(SAMPLES[sample][1])
    assert transcript.player("Kim").is_human is True


def test_generative_agents_tell_a_conversation_once() -> None:
    (transcript,) = games(SAMPLES["generative agents"][1])
    assert (len(transcript.messages), len(transcript.players)) == (16, 2)


def test_sotopia() -> None:
    found = games(SAMPLES["sotopia"][1])
    assert len(found) == 8
    assert sum(len(transcript.discussion) for transcript in found) == 72
    assert all(transcript.metadata["rewards"] for transcript in found)


def test_sotopia_raw() -> None:
    episode = {
        "environment": "e",
        "agents": ["a", "b"],
        "messages": [
            [["Environment", "Ann", "You are Ann."], ["Environment", "Ben", "You are Ben."]],
            [["Ann", "Environment", 'said: "Hi, Ben."'], ["Ben", "Environment", "did nothing"]],
            [["Ben", "Environment", "left the conversation"]],
        ],
    }
    (transcript,) = games(lines(episode))
    assert [(m.channel, m.speaker, m.text) for m in transcript.messages] == [
        ("public", "Ann", "Hi, Ben."),
        ("system", "Ben", "left the conversation"),
    ]
    assert transcript.player("Ben").persona == "You are Ben."


def test_a_data_set_of_dialogues() -> None:
    first, second = games(SAMPLES["dialogues"][1])
    assert (first.game_id, second.game_id) == ("a", "b")
    assert [(m.speaker, m.text) for m in first.messages] == [("user", "Hi"), ("assistant", "Ho")]
    assert first.metadata == {"source": "made"}


def test_a_data_set_in_the_shape_of_sharegpt_and_as_json_text() -> None:
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]
    for cell in (turns, lines(turns).decode()):
        (transcript,) = games(parquet([{"conversations": cell}]))
        assert transcript.player_names == ("human", "gpt")


def test_one_broken_dialogue_leaves_the_others_standing_and_too_many_are_refused() -> None:
    rows = [{"messages": lines(row["messages"]).decode()} for row in DIALOGUES] + [{"messages": "[{"}]
    results = read_upload("set.parquet", parquet(rows))
    assert [result.error is None for result in results] == [True, True, False]
    (refused,) = read_upload("set.parquet", parquet(DIALOGUES), Limits(files=1))
    assert "2 dialogues, more than 1" in str(refused.error)


def game_of(content: Any) -> Transcript:
    (transcript,) = games(json.dumps(content).encode())
    return transcript


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.speaker, message.text) for message in transcript.messages]


def test_agentverse_messages_with_receivers_and_tools() -> None:
    transcript = game_of(AGENTVERSE)
    assert [(one.channel, one.speaker, one.text, one.recipients) for one in transcript.messages] == [
        ("public", "Ann", "Who is it?", ()),
        ("system", "Bob", 'search({"q": "Cid"})\nNothing found.', ()),
        ("private", "Bob", "I think Cid.", ("Ann",)),
    ]
    assert "sk-secret" not in transcript.to_json()
    assert game_of({"messages": AGENTVERSE}).messages == transcript.messages


def test_camel_conversations_in_the_order_of_their_numbers() -> None:
    transcript = game_of(CAMEL)
    assert said(transcript) == [("Actor", "Sort them."), ("Accountant", "Sorted."), ("Accountant", "Goodbye.")]
    assert (transcript.game_id, transcript.metadata["specified_task"]) == ("001_002_003", "Sort the receipts.")
    question = {
        "role_1": "Mathematician_RoleType.ASSISTANT",
        "topic": "Algebra",
        "message_1": "1 + 1?",
        "message_2": "2",
    }
    assert said(game_of(question)) == [("Mathematician", "1 + 1?"), ("role 2", "2")]


def test_camel_logs_of_requests_are_one_game_in_one_file_and_in_a_zip() -> None:
    whole = game_of(CAMEL_LOG)
    assert said(whole) == [("user", "Sort them."), ("Ann", "They are sorted."), ("Bob", "Well done.")]
    assert whole.cost is not None
    assert (whole.cost.input_tokens, whole.cost.output_tokens) == (10, 4)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number, call in enumerate(reversed(CAMEL_LOG)):
            archive.writestr(f"conv_{number}.json", json.dumps(call))
    [result] = read_upload("logs.zip", made.getvalue())
    assert result.transcript == whole
