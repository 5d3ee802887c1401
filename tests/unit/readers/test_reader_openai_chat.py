import json
from typing import Any

import pytest

from evaluation.readers import ReadResult, read_upload
from evaluation.transcript import Transcript

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You play Mafia."},
    {"role": "user", "name": "Ann", "content": "Who is it?"},
    {"role": "assistant", "name": "Bob", "content": "Cid, I think.", "timestamp": "2025-01-01T10:00:00Z"},
]


def upload(value: Any) -> list[ReadResult]:
    data = value if isinstance(value, str) else json.dumps(value)
    return read_upload("chat.json", data.encode())


def lines(*values: Any) -> str:
    return "\n".join(map(json.dumps, values)) + "\n"


def read(value: Any) -> Transcript:
    (result,) = upload(value)
    assert result.error is None
    assert result.format == "openai-chat"
    assert result.transcript is not None
    return result.transcript


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
        first, second = upload(value)
        assert (first.name, second.name) == ("chat.json/a", "chat.json/2")
        assert second.transcript is not None
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
        ("user", "public", "Look\nthere"),
        ("assistant", "private", "Let me see."),
        ("assistant", "system", 'look({"at": "Cid"})'),
        ("tool", "system", "Nothing."),
        ("assistant", "system", "end({})"),
        ("assistant", "public", "I will not."),
        ("assistant", "public", ""),
    ]
    assert transcript.messages[0].metadata == {"parts": ["image_url"]}


def test_one_broken_chat_leaves_the_others_standing() -> None:
    first, second, third = upload(lines({"messages": CHAT}, {"messages": [{"role": "user"}]}, {"messages": CHAT[1:]}))
    assert (first.error, third.error) == (None, None)
    assert (second.name, str(second.error)) == (
        "chat.json/2",
        "line 2: $.messages[0].content: Found nothing, expected text or a list of parts. "
        "Correct that value and try again.",
    )


FAULTS = [
    (
        lines({"messages": CHAT}) + '{"messages": [\n',
        "line 2, column 15: Not valid JSON: Expecting value. The file may be incomplete: export or copy it again.",
    ),
    (
        lines(CHAT[1]) + '{"role": "user", "content": NaN}\n',
        "line 2: $.content: NaN is too large or not a number. Use a smaller number, or null.",
    ),
    (
        lines(CHAT[1], {"content": "Hi"}),
        "line 2: $.role: Found nothing, expected text. Correct that value and try again.",
    ),
    (
        {"messages": [{"role": "user", "content": [1]}]},
        "$.messages[0].content[0]: Found the number 1, expected an object. Correct that value and try again.",
    ),
    (
        {"messages": CHAT[:1]},
        "Nobody speaks but the system. Export the whole chat.",
    ),
]


@pytest.mark.parametrize(("value", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_a_broken_chat_is_refused_with_place_and_remedy(value: Any, expected: str) -> None:
    assert str(upload(value)[-1].error) == expected


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
    assert upload(value)[0].format != "openai-chat"
