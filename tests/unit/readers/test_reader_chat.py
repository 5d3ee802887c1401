import json
from typing import Any

import pytest

from evaluation.transcript import Transcript
from tests.unit.readers.reading import lines, read, results

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You play Mafia."},
    {"role": "user", "name": "Ann", "content": "Who is it?"},
    {"role": "assistant", "name": "Bob", "content": "Cid, I think.", "timestamp": "2025-01-01T10:00:00Z"},
]


def said(transcript: Transcript) -> list[tuple[str, str, str]]:
    return [(m.speaker, m.channel, m.text) for m in transcript.messages]


@pytest.mark.parametrize(
    "value",
    [{"messages": CHAT}, CHAT, lines(*CHAT), json.dumps({"messages": CHAT}, indent=2), [{"messages": CHAT}]],
    ids=["object", "list", "lines", "indented", "list of one"],
)
def test_every_way_to_write_one_chat(value: Any) -> None:
    transcript = read(value)
    assert said(transcript) == [
        ("system", "system", "You play Mafia."),
        ("Ann", "public", "Who is it?"),
        ("Bob", "public", "Cid, I think."),
    ]
    assert transcript.player_names == ("Ann", "Bob")
    assert transcript.messages[2].metadata == {"role": "assistant"}


def test_the_speaker_is_the_role_where_there_is_no_name() -> None:
    transcript = read(
        {"id": "c7", "model": "m", "messages": [{"role": r, "content": r} for r in ("user", "assistant")]}
    )
    assert transcript.player_names == ("user", "assistant")
    assert [player.model for player in transcript.players] == [None, "m"]
    assert transcript.game_id == "c7"


def test_several_chats_as_list_and_as_lines() -> None:
    chats = [{"id": "a", "messages": CHAT}, {"messages": CHAT[:2], "topic": "x"}]
    for value in (chats, lines(*chats)):
        first, second = results(value)
        assert (first.name, second.name) == ("file/a", "file/2")
        assert second.transcript.metadata == {"topic": "x"}


def test_content_in_parts_tools_thoughts_and_refusals() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"at": "Cid"}'}}
    messages = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look"}, {"type": "image_url"}, {"type": "text", "text": "there"}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Let me see."},
        {"role": "tool", "content": "Nothing.", "tool_call_id": "1"},
        {"role": "assistant", "content": None, "function_call": {"name": "end", "arguments": "{}"}},
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"role": "assistant", "content": ""},
    ]
    transcript = read({"messages": messages})
    assert said(transcript) == [
        ("user", "public", "Look\n[image_url]\nthere"),
        ("assistant", "private", "Let me see."),
        ("assistant", "system", 'look({"at": "Cid"})'),
        ("tool", "system", "Nothing."),
        ("assistant", "system", "end({})"),
        ("assistant", "public", "I will not."),
        ("assistant", "public", ""),
    ]


def test_one_broken_chat_leaves_the_others_standing() -> None:
    first, second, third = results(lines({"messages": CHAT}, {"messages": [{"role": "user"}]}, {"messages": CHAT[1:]}))
    assert (first.error, third.error) == (None, None)
    assert second.name == "file/2"
    assert str(second.error).startswith("line 2: $.messages[0].content: Found nothing, expected text")


FAULTS = [
    (lines({"messages": CHAT}) + b'\n{"messages": [\n', "line 2, column 15: Not valid JSON: Expecting value."),
    (lines(CHAT[1]) + b'\n{"role": "user", "content": NaN}\n', "line 2: $.content: NaN is not a number"),
    (lines(CHAT[1], {"content": "Hi"}), "line 2: $.role: Found nothing, expected text."),
    (
        {"messages": [{"role": "user", "content": [1]}]},
        "$.messages[0].content: Found a list of 1 item, expected text or a list of parts.",
    ),
    ({"messages": CHAT[:1]}, "Nobody speaks but the system."),
]


@pytest.mark.parametrize(("value", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_a_broken_chat_is_refused_with_its_place(value: Any, expected: str) -> None:
    assert str(results(value)[-1].error).startswith(expected)


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []},
        {"messages": [{"text": "Hi"}]},
        [{"role": "x"}],
        {"gameId": "g", "players": [], "messages": CHAT},
        lines({"role": "user", "content": "Hi", "game_id": 7}),
    ],
)
def test_what_only_resembles_a_chat_is_none(value: Any) -> None:
    assert results(value)[0].format != "openai-chat"


TURNS = [
    {"from": "human", "value": "Who is it?"},
    {"from": "function_call", "value": "{}"},
    {"from": "observation", "value": "[]"},
    {"from": "gpt", "value": "Cid, I think.", "weight": 1},
]
CONVERSATION: dict[str, Any] = {"id": "c1", "system": "You play Mafia.", "model": "m", "source": "x"}
CONVERSATION["conversations"] = TURNS


def test_a_conversation() -> None:
    transcript = read(CONVERSATION, "sharegpt")
    assert transcript.game_id == "c1"
    assert [(m.speaker, m.channel, m.channel_name, m.text) for m in transcript.messages] == [
        ("system", "system", None, "You play Mafia."),
        ("human", "public", None, "Who is it?"),
        ("function_call", "system", "tool", "{}"),
        ("observation", "system", "tool", "[]"),
        ("gpt", "public", None, "Cid, I think."),
    ]
    assert [(player.name, player.model) for player in transcript.players] == [("human", None), ("gpt", "m")]
    assert transcript.messages[4].metadata == {"weight": 1}
    assert transcript.metadata == {"source": "x"}


@pytest.mark.parametrize("separator", [None, "\n"])
def test_several_conversations(separator: str | None) -> None:
    chats = [CONVERSATION, {"conversations": TURNS}, {"conversations": [{"from": "human"}]}]
    found = results(chats if separator is None else separator.join(map(json.dumps, chats)))
    assert [one.name for one in found] == ["file/c1", "file/2", "file/3"]
    place = "$[2]" if separator is None else "line 3: $"
    assert str(found[2].error).startswith(f"{place}.conversations[0].value: Found nothing, expected text.")


def test_any_name_may_speak() -> None:
    transcript = read({"conversations": [{"from": "Ann", "value": "Hi."}, {"from": "Moderator", "value": "Night."}]})
    assert [(m.speaker, m.channel) for m in transcript.messages] == [("Ann", "public"), ("Moderator", "system")]
