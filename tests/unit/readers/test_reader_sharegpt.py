import json
from typing import Any

import pytest

from evaluation.readers import ReadResult, read_upload

TURNS = [
    {"from": "human", "value": "Who is it?"},
    {"from": "function_call", "value": "{}"},
    {"from": "observation", "value": "[]"},
    {"from": "gpt", "value": "Cid, I think.", "weight": 1},
]
CHAT: dict[str, Any] = {"id": "c1", "system": "You play Mafia.", "model": "m", "source": "x", "conversations": TURNS}


def upload(value: Any) -> list[ReadResult]:
    data = value if isinstance(value, str) else json.dumps(value)
    return read_upload("chats.json", data.encode())


def test_a_conversation() -> None:
    (result,) = upload(CHAT)
    assert result.format == "sharegpt"
    transcript = result.transcript
    assert transcript is not None
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
def test_several(separator: str | None) -> None:
    chats = [CHAT, {"conversations": TURNS}, {"conversations": [{"from": "human"}]}]
    results = upload(chats if separator is None else separator.join(map(json.dumps, chats)))
    assert [result.name for result in results] == ["chats.json/c1", "chats.json/2", "chats.json/3"]
    place = "$[2]" if separator is None else "line 3: $"
    assert str(results[2].error) == (
        f"{place}.conversations[0].value: Found nothing, expected text. Correct that value and try again."
    )


def test_any_name_may_speak() -> None:
    (result,) = upload({"conversations": [{"from": "Ann", "value": "Hi."}, {"from": "Moderator", "value": "Night."}]})
    assert result.transcript is not None
    assert [(m.speaker, m.channel) for m in result.transcript.messages] == [("Ann", "public"), ("Moderator", "system")]
