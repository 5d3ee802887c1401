"""Chats as messengers export them: Telegram, Discord, Slack, WhatsApp; and web pages, which are refused."""

from __future__ import annotations

import io
import json
from typing import Any
from zipfile import ZipFile

import pytest

from evaluation.readers import Answers
from tests.unit.readers.reading import read, refusal, result, results, told


def telegram_chat(**fields: Any) -> dict[str, Any]:
    messages = [
        {
            "id": 1,
            "type": "service",
            "date": "2024-06-01T10:00:00",
            "actor": "Ann",
            "action": "create_group",
            "text": "",
        },
        {
            "id": 2,
            "type": "message",
            "date": "2024-06-01T10:00:05",
            "date_unixtime": "1717236005",
            "from": "Ann",
            "from_id": "user1",
            "text": ["Who is ", {"type": "bold", "text": "the wolf"}, "?"],
        },
        {
            "id": 4,
            "type": "message",
            "date": "2024-06-01T10:00:09",
            "from": "Bob",
            "from_id": "user2",
            "reply_to_message_id": 2,
            "text": "Not me",
        },
        {"id": 5, "type": "message", "date": "2024-06-01T10:00:10", "from": "Bob", "photo": "x.jpg", "text": ""},
        {"id": 6, "type": "message", "date": "2024-06-01T10:00:11", "from": None, "from_id": "user3", "text": "Hm"},
    ]
    return {"name": "Tuesday", "type": "private_group", "id": 77, "messages": messages} | fields


def test_a_chat_of_telegram() -> None:
    transcript = read(telegram_chat())
    assert told(transcript) == [
        ("system", "Ann", "create group"),
        ("public", "Ann", "Who is the wolf?"),
        ("public", "Bob", "Not me"),
        ("public", "user3", "Hm"),
    ]
    assert transcript.messages[2].reply_to == transcript.messages[1].id
    assert transcript.messages[1].sent_at is not None
    assert transcript.messages[1].sent_at.isoformat() == "2024-06-01T10:00:05+00:00"
    assert transcript.player_names == ("Ann", "Bob", "user3")


def test_all_chats_of_telegram() -> None:
    data = {"about": "…", "chats": {"list": [telegram_chat(), telegram_chat(name="Empty", messages=[])]}}
    found = result(data, "result.json")
    assert (found.name, found.format) == ("result.json/Tuesday", "telegram")


def test_a_channel_of_discord() -> None:
    def message(number: int, text: str, **fields: Any) -> dict[str, Any]:
        author = {"id": str(number % 2), "name": f"user{number % 2}", "nickname": ["Ann", "Bob"][number % 2]}
        about = {"id": str(number), "type": "Default", "timestamp": f"2024-06-01T10:00:0{number}+02:00"}
        return about | {"content": text, "author": author} | fields

    data = {
        "guild": {"id": "1", "name": "Games"},
        "channel": {"id": "22", "type": "GuildTextChat", "name": "day-chat"},
        "messages": [
            message(1, "Joined the server.", type="GuildMemberJoin"),
            message(2, "I left the door open"),
            message(3, "Why?", type="Reply", reference={"messageId": "2"}),
            message(4, "Pinned a message.", type="ChannelPinnedMessage"),
            message(5, ""),
        ],
    }
    transcript = read(data)
    assert told(transcript) == [
        ("system", "Bob", "Joined the server."),
        ("public", "Ann", "I left the door open"),
        ("public", "Bob", "Why?"),
        ("system", "Ann", "Pinned a message."),
    ]
    assert transcript.messages[2].reply_to == transcript.messages[1].id
    assert transcript.game_id == "discord-22"


def slack(**channels: list[dict[str, Any]]) -> bytes:
    users = [
        {"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}},
        {"id": "U2", "name": "bob", "real_name": "Bob Berg", "profile": {"display_name": ""}},
    ]
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("users.json", json.dumps(users))
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": name} for name in channels]))
        for name, messages in channels.items():
            archive.writestr(f"{name}/2024-06-01.json", json.dumps(messages))
    return packed.getvalue()


def test_a_workspace_of_slack() -> None:
    messages = [
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U1",
            "text": "<@U1> has joined the channel",
            "ts": "1.1",
        },
        {"type": "message", "user": "U1", "text": "<@U2> where were you &amp; why?", "ts": "1700000010.000200"},
        {
            "type": "message",
            "user": "U2",
            "text": "At home",
            "ts": "1700000020.000300",
            "thread_ts": "1700000010.000200",
        },
    ]
    day, random = results(slack(day=messages, random=messages[:1]), "export.zip")
    assert [day.name, random.name] == ["export.zip/day", "export.zip/random"]
    transcript = day.transcript
    assert transcript is not None
    assert told(transcript) == [
        ("system", "Ann", "@Ann has joined the channel"),
        ("public", "Ann", "@Bob Berg where were you & why?"),
        ("public", "Bob Berg", "At home"),
    ]
    assert transcript.messages[2].reply_to == transcript.messages[1].id
    assert "Nobody speaks" in str(random.error)


WHATSAPP = "01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning\nall of you\n"


def test_dates_that_can_be_read_two_ways_are_asked_about() -> None:
    asked = result(WHATSAPP)
    assert asked.transcript is None
    assert asked.preview is not None
    assert "day or the month" in str(asked.error)
    assert "--dates day-first|month-first" in str(asked.error)
    for order, month in (("day-first", 6), ("month-first", 1)):
        transcript = read(WHATSAPP, answers=Answers(dates=order))
        assert transcript.messages[0].sent_at is not None
        assert transcript.messages[0].sent_at.month == month
        assert transcript.messages[1].text == "Good morning\nall of you"


@pytest.mark.parametrize("day", ["13/06/2024", "06/13/2024", "2024-06-01", "01.06.2024", "1 Jun 2024"])
def test_dates_that_are_certain_are_not(day: str) -> None:
    transcript = read(f"[{day}, 10:00] Ann: Hi\n[{day}, 10:01] Bob: Ho\n")
    assert transcript.messages[0].sent_at is not None
    assert (transcript.messages[0].sent_at.year, transcript.messages[0].sent_at.month) == (2024, 6)


def test_an_unknown_prefix_is_asked_about_and_the_answer_obeyed() -> None:
    text = "Player 1: Who was it?\nPlayer 2: Not me.\nEvidence: none.\nPlayer 1: Hm.\nPlayer 2: Well.\n"
    asked = result(text)
    assert asked.transcript is None
    assert [question.name for question in asked.questions] == ["Evidence"]
    assert '--speaker "Evidence=player|moderator|text"' in str(asked.error)
    for kind, expected in (
        ("text", ("public", "Player 2", "Not me.\nEvidence: none.")),
        ("player", ("public", "Evidence", "none.")),
        ("moderator", ("system", "Evidence", "none.")),
    ):
        transcript = read(text, answers=Answers(speakers={"Evidence": kind}))
        assert expected in told(transcript)


@pytest.mark.parametrize("text", ["<!DOCTYPE html><html><body>Ann: Hi</body></html>", "\n<html>\nAnn: Hi\nBob: Ho\n"])
def test_a_web_page_is_refused_with_the_way_to_data(text: str) -> None:
    assert "This is a web page" in refusal(text)
    assert "machine-readable JSON" in refusal(text)


def test_two_people_of_one_nickname_stay_two() -> None:
    def said(number: int) -> dict[str, Any]:
        author = {"id": f"{number}", "name": f"user{number}", "nickname": "Ann"}
        return {
            "id": f"{number}",
            "type": "Default",
            "timestamp": "2024-06-01T10:00:00Z",
            "content": "Hi",
            "author": author,
        }

    discord = {"guild": {}, "channel": {"id": "1"}, "messages": [said(1), said(2)]}
    chat = telegram_chat()["messages"]
    telegram = telegram_chat(messages=[chat[1], chat[1] | {"id": 9, "from_id": "user9"}])
    for data, names in ((discord, ("Ann (1)", "Ann (2)")), (telegram, ("Ann (user1)", "Ann (user9)"))):
        assert read(data).player_names == names


def test_a_line_whose_time_is_not_known_is_named() -> None:
    line = "14/3/24, 13:5{} - Olga: Good morning, number {}.\n"
    found = result("".join(line.format(n, n) for n in range(4)) + "14/3/24, 13h59 - Per: Good morning.\n")
    assert found.remarks == (
        "1 line like a message, with a time that is not known, left above: "
        'line 5, "14/3/24, 13h59 - Per: Good morning.".',
    )
