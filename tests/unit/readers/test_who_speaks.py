"""Who speaks, to whom and when: the rules that hold for every format after its reader."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.readers import Answers, read_path
from evaluation.readers._who_could_hear import channel_named
from evaluation.score import RowVerdict
from evaluation.text.names import NameIndex
from evaluation.text.reasoning import parts_of
from tests.unit.readers.reading import read, result, told

CASES = Path(__file__).parent / "cases"


def test_a_block_of_reasoning_is_a_thought_of_its_speaker() -> None:
    transcript = read(CASES / "think-in-chat.json")
    assert told(transcript)[2:] == [
        ("private", "Pia", "It is early. I am the wolf, so I stay calm, because Olga may suspect me."),
        ("public", "Pia", "Hello Olga."),
        ("private", "Rui", "Nothing to say."),
        ("public", "Rui", "Hi."),
        ("public", "Olga", "Thanks, Pia."),
    ]
    assert all(message.is_thought for message in transcript.messages if message.channel == "private")
    said = {message.id: message.text for message in transcript.messages}
    rows = evaluate_transcript(transcript).metrics["strategic_depth"].ledger
    assert {said[str(row.message_id)]: row.verdict for row in rows}["Hi."] is RowVerdict.DOES_NOT_COUNT


def test_who_is_whispered_to_alone_hears_it() -> None:
    transcript = read(CASES / "whisper-recipient.csv")
    heard = [("public", ()), ("private", ("Tilda",)), ("private", ("Sven",)), ("public", ())]
    assert [(m.channel, m.recipients) for m in transcript.messages] == heard


def test_a_narrator_by_role_is_no_player() -> None:
    found = result(CASES / "narrator-by-role.csv")
    transcript = found.transcript
    assert transcript.player_names == ("Nora", "Sven", "Tilda")
    assert [m.speaker for m in transcript.messages if m.channel == "system"] == ["Mrs. Frost", "God"]
    assert any("Mrs. Frost, God in" in remark for remark in found.remarks)


def test_a_file_with_its_newest_message_first_is_put_in_order() -> None:
    found = result(CASES / "newest-first.csv")
    transcript = found.transcript
    assert [m.speaker for m in transcript.messages] == ["Tilda", "Nora", "Sven", "Tilda"]
    assert [m.id for m in transcript.messages] == ["m1", "m2", "m3", "m4"]
    assert any("newest message first" in remark for remark in found.remarks)


def test_short_names_of_seats_are_their_players() -> None:
    transcript = read(CASES / "short-seat-names.csv")
    index = NameIndex.of(transcript.player_names)
    named = [[m.player[:7] for m in index.mentions(message.text)] for message in transcript.messages]
    assert named == [["Player2", "Player3"], ["Player1"], ["Player2"], ["Player3"]]


def test_a_short_form_is_the_player_whom_alone_it_can_mean() -> None:
    index = NameIndex.of(("Alexander", "Rosalinda", "Dr. Per Holm"))
    named = {
        text: [m.player for m in index.mentions(text)] for text in ("Alex, where were you?", "Holm, I doubt Alex.")
    }
    assert named == {"Alex, where were you?": ["Alexander"], "Holm, I doubt Alex.": ["Dr. Per Holm", "Alexander"]}
    assert not NameIndex.of(("Alexander", "Alexandra")).mentions("Alex, where were you?")
    # "Will" and "Rose" are words of their own.
    assert not NameIndex.of(("William", "Rosemary")).mentions("Will you go, and where is a rose?")


def test_a_log_with_brackets_is_a_transcript_with_times() -> None:
    transcript = read(CASES / "log-with-brackets.txt")
    assert [m.speaker for m in transcript.messages] == ["Nora", "Sven", "Tilda"]
    times = [f"2024-06-01T10:00:{seconds}+00:00" for seconds in ("00", "20", "40")]
    assert [m.sent_at.isoformat() for m in transcript.messages if m.sent_at] == times


def test_a_run_that_was_broken_off_is_taken_on_request_only() -> None:
    broken, empty = read_path(CASES / "inspect-sample-errors.json")
    assert broken.transcript is None
    assert broken.preview is not None
    assert "broken off by an error (Time limit exceeded)" in str(broken.error)
    assert "--incomplete" in str(broken.error)
    assert "before anybody spoke" in str(empty.error)
    taken, empty = read_path(CASES / "inspect-sample-errors.json", answers=Answers(incomplete=True))
    assert taken.transcript.metadata["broken_off"] == "an error (Time limit exceeded)"
    assert empty.transcript is None
    again = result(taken.transcript.to_json())
    assert again.transcript == taken.transcript


def test_a_team_that_ended_by_an_error_was_broken_off() -> None:
    message = {"source": "Ann", "type": "TextMessage", "content": "Hello"}
    for reason, is_whole in (("Maximum number of messages 10 reached", True), ("Timeout of 60 s reached", False)):
        found = result(json.dumps({"messages": [message], "stop_reason": reason}))
        assert (found.error is None) is is_whole


def test_chat_events_are_no_speech() -> None:
    found = result(CASES / "chat-join-event.json")
    assert [m.channel for m in found.transcript.messages] == ["system", "public", "public"]
    assert found.remarks == ("1 chat event (joined, left, pinned) in the system channel.",)


@pytest.mark.parametrize(
    "words", ["joined the chat", "has left the channel.", "Ann joined the group", "set the channel topic to wolves"]
)
def test_events_without_a_kind_are_known_by_their_words(words: str) -> None:
    rows = f"name,text\nAnn,{words}\nAnn,Hello all\nBob,I think Ann left the village to join the wolves\n"
    assert [m.channel for m in read(rows).messages] == ["system", "public", "public"]


@pytest.mark.parametrize(
    "words",
    ["Bob left too early", "I left the channel open", "Ann joined us late", "He changed the subject again and again"],
)
def test_talk_about_joining_and_leaving_is_talk(words: str) -> None:
    assert [m.channel for m in read(f"name,text\nCid,{words}\nBob,Hello\n").messages] == ["public"] * 2


TAGGED = [
    ("a</think>b", [("thought", "a"), ("speech", "b")]),
    ("b<scratchpad>a", [("speech", "b"), ("thought", "a")]),
    ("<think>a</think>b<think>c</think>", [("thought", "a"), ("speech", "b"), ("thought", "c")]),
    ('<reasoning kind="x">a</reasoning>\n\nb', [("thought", "a"), ("speech", "b")]),
    ("<tool_call>f()</tool_call>b", [("tool", "f()"), ("speech", "b")]),
    ("write `<think>` first", [("speech", "write `<think>` first")]),
    (" as it was ", [("speech", " as it was ")]),
]


@pytest.mark.parametrize(("text", "expected"), TAGGED)
def test_parts_of_a_message(text: str, expected: Sequence[tuple[str, str]]) -> None:
    assert parts_of(text) == expected


def test_an_answer_to_a_message_that_was_a_thought_alone_still_finds_it() -> None:
    rows = "id,name,text,reply_to\na,Ann,<think>hm</think>,\nb,Bob,Well?,a\n"
    transcript = read(rows)
    said = [(m.id, m.channel, m.reply_to) for m in transcript.messages]
    assert said == [("a", "private", None), ("b", "public", "a")]


CHANNELS = {
    **dict.fromkeys(("wolf-den", "Mafia Chat", "ghosts"), "team"),
    **dict.fromkeys(("DM", "whispers"), "private"),
    **dict.fromkeys(("general", "town-square"), "public"),
    "#announcements": "system",
    **dict.fromkeys(("nightingale", "lounge"), None),
}


@pytest.mark.parametrize(("name", "channel"), CHANNELS.items())
def test_whole_words_of_a_channel_name_decide(name: str, channel: str | None) -> None:
    assert channel_named(name) == channel


def test_a_channel_whose_name_says_nothing_is_not_public_and_asked_about() -> None:
    rows = "name,text,channel\nAnn,a,general\nBob,b,general\nAnn,c,lounge\nBob,d,mafia\n"
    found = result(rows)
    assert [m.channel for m in found.transcript.messages] == ["public", "public", "team", "team"]
    assert [(q.name, q.taken) for q in found.questions] == [("lounge", "team")]
    answered = result(rows, answers=Answers(channels={"lounge": "public"}))
    assert [m.channel for m in answered.transcript.messages] == ["public", "public", "public", "team"]
    assert not answered.questions


def test_hundreds_of_channels_are_one_question() -> None:
    rows = "".join(f"Ann,hi,c{number}\nBob,ho,c{number}\n" for number in range(300))
    found = result(f"name,text,channel\n{rows}")
    assert [(q.name, q.taken) for q in found.questions] == [("*", None)]
    answered = result(f"name,text,channel\n{rows}", answers=Answers(channels={"*": "public"}))
    assert len(answered.transcript.discussion) == 600


def test_hearers_that_are_everybody_and_listeners_make_nothing_private() -> None:
    rows = "name,text,to,listener\nAnn,a,Bob;Cid,Bob\nBob,b,everyone,\nCid,c,,Ann\nBob,d,Cid,\n"
    assert [m.channel for m in read(rows).messages] == ["public", "public", "public", "private"]


def test_a_moderator_by_name_whose_role_contradicts_is_asked_about() -> None:
    rows = "name,role,text\nGod,werewolf,I am innocent\nAnn,villager,So am I\n"
    found = result(rows)
    assert found.transcript is None
    assert "God" in str(found.error)
    assert [question.choices for question in found.questions] == [("player", "moderator")]
    assert read(rows, answers=Answers(speakers={"God": "player"})).player_names == ("God", "Ann")
    assert read(rows, answers=Answers(speakers={"God": "moderator"})).player_names == ("Ann",)


def test_times_that_do_not_all_fall_leave_the_order_of_the_file() -> None:
    rows = "time,name,text\n2024-06-01T10:03:00Z,Ann,a\n2024-06-01T10:01:00Z,Bob,b\n2024-06-01T10:02:00Z,Ann,c\n"
    assert [m.text for m in read(rows).messages] == ["a", "b", "c"]


def test_numbers_of_seconds_and_milliseconds_are_times() -> None:
    for first, second in (("1700000060", "1700000000"), ("1700000060000", "1700000000000")):
        transcript = read(f"time,name,text\n{first},Ann,a\n{second},Bob,b\n")
        assert [m.text for m in transcript.messages] == ["b", "a"]
        assert transcript.messages[1].sent_at.isoformat() == "2023-11-14T22:14:20+00:00"


@pytest.mark.parametrize("names", [("Bob", "Eve"), ("Will", "Mark"), ("GRACE", "HOPE")])
def test_given_names_that_are_english_words_are_players(names: tuple[str, str]) -> None:
    one, other = names
    found = result(f"{one}: Hello.\n{other}: Hi there.\n{one}: Why?\n{other}: Well.\n{one}: Good.\n")
    assert found.transcript.player_names == names
    assert not found.questions
