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
    def said(number: int, second: int, text: Any, **more: Any) -> dict[str, Any]:
        about = {"id": number, "type": "message", "date": f"2024-06-01T10:00:{second:02}"}
        return about | {"text": text} | more

    bold = ["Who is ", {"type": "bold", "text": "the wolf"}, "?"]
    ann, bob = ({"from": name, "from_id": f"user{place}"} for place, name in ((1, "Ann"), (2, "Bob")))
    messages = [
        said(1, 0, "", actor="Ann", action="create_group") | {"type": "service"},
        said(2, 5, bold, date_unixtime="1717236005", **ann),
        said(4, 9, "Not me", reply_to_message_id=2, **bob),
        said(5, 10, "", photo="x.jpg", **{"from": "Bob"}),
        said(6, 11, "Hm", **{"from": None, "from_id": "user3"}),
    ]
    return {"name": "Tuesday", "type": "private_group", "id": 77, "messages": messages} | fields


def test_a_chat_of_telegram() -> None:
    transcript = read(telegram_chat())
    assert told(transcript) == [
        ("system", "Ann", "create group"),
        ("public", "Ann", "Who is the wolf?"),
        ("public", "Bob", "Not me"),
        ("system", "Bob", "without text: a picture, a sticker or a file"),
        ("public", "user3", "Hm"),
    ]
    assert transcript.messages[2].reply_to == transcript.messages[1].id
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
        ("system", "Bob", "without text: a picture, a sticker or a file"),
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
    def said(user: str, text: str, ts: str, **more: str) -> dict[str, Any]:
        return {"type": "message", "user": user, "text": text, "ts": ts} | more

    messages = [
        said("U1", "<@U1> has joined the channel", "1.1", subtype="channel_join"),
        said("U1", "<@U2> where were you &amp; why?", "1700000010.000200"),
        said("U2", "At home", "1700000020.000300", thread_ts="1700000010.000200"),
    ]
    day, random = results(slack(day=messages, random=messages[:1]), "export.zip")
    assert [day.name, random.name] == ["export.zip/day", "export.zip/random"]
    transcript = day.transcript
    assert told(transcript) == [
        ("system", "Ann", "@Ann has joined the channel"),
        ("public", "Ann", "@Bob Berg where were you & why?"),
        ("public", "Bob Berg", "At home"),
    ]
    assert transcript.messages[2].reply_to == transcript.messages[1].id
    assert "Nobody speaks" in str(random.error)


def test_one_day_of_slack_takes_names_from_its_messages() -> None:
    def said(user: str, text: str, ts: str, **names: str) -> dict[str, Any]:
        return {"type": "message", "user": user, "text": text, "ts": ts, "user_profile": names}

    day = [
        said("U1", "<@U2> where were you?", "1700000010.000200", display_name="Ann"),
        said("U2", "At home", "1700000020.000300", display_name="", real_name="Bob Berg"),
    ]
    assert told(read(json.dumps(day), "slack")) == [
        ("public", "Ann", "@Bob Berg where were you?"),
        ("public", "Bob Berg", "At home"),
    ]


WHATSAPP = "01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning\nall of you\n"


def test_dates_that_can_be_read_two_ways_are_asked_about() -> None:
    asked = result(WHATSAPP)
    assert asked.transcript is None
    assert asked.preview is not None
    assert "day or the month" in str(asked.error)
    assert "--dates day-first|month-first" in str(asked.error)
    for order, month in (("day-first", 6), ("month-first", 1)):
        transcript = read(WHATSAPP, answers=Answers(dates=order))
        assert transcript.messages[0].sent_at.month == month
        assert transcript.messages[1].text == "Good morning\nall of you"


@pytest.mark.parametrize("day", ["13/06/2024", "06/13/2024", "2024-06-01", "01.06.2024", "1 Jun 2024"])
def test_dates_that_are_certain_are_not(day: str) -> None:
    transcript = read(f"[{day}, 10:00] Ann: Hi\n[{day}, 10:01] Bob: Ho\n")
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
        about = {"id": f"{number}", "type": "Default", "timestamp": "2024-06-01T10:00:00Z", "content": "Hi"}
        return about | {"author": {"id": f"{number}", "name": f"user{number}", "nickname": "Ann"}}

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


def test_a_chat_of_kakaotalk_with_names_and_times_in_brackets() -> None:
    said = [
        ("Ines", "8:54", "Good evening."),
        ("Tomas(T)", "8:58", "And to you.\nIs the page gone?"),
        ("Ines", "9:01", "It is."),
    ]
    lines = "".join(f"[{name}] [오후 {clock}] {text}\n" for name, clock, text in said * 2)
    game = read(f"--------------- 2018년 3월 3일 토요일 ---------------\n{lines}")
    assert [(one.speaker, one.text) for one in game.discussion] == [
        (name.removesuffix("(T)"), text) for name, _, text in said * 2
    ]
    assert game.discussion[0].sent_at.strftime("%H:%M") == "20:54"


def test_speakers_in_brackets_whose_words_go_on_below() -> None:
    talk = "".join(f"[PERSON{n % 3}] That is point {n}.\nAnd so on,\nand so on.\n" for n in range(18))
    game = read(talk)
    assert (game.player_names, len(game.messages)) == (("PERSON0", "PERSON1", "PERSON2"), 18)


def test_arrows_of_who_comes_and_goes_are_no_names() -> None:
    log = "".join(f"[2018-03-26 17:0{n}] <{name}> Point {n} of all.\n" for n, name in enumerate(("olga", "rui") * 4))
    quits = "[2018-03-26 17:09] ⇐ rui_ quit (rui@host: Ping timeout)\n"
    assert read(log + quits).player_names == ("olga", "rui")
