"""Kinds of files that real games came in: what stands in them for some is not public, and no heading is a player."""

from __future__ import annotations

import json

from tests.unit.readers.reading import lines, read, refusal, result, told
from tests.unit.readers.test_who_could_hear import heard


def test_one_recipient_is_private_where_others_write_to_all() -> None:
    said = [
        {"sender": "OLGA", "recipient": "PER", "message": "You and I, Per?"},
        {"sender": "PER", "recipient": "OLGA", "message": "Fine with me."},
        {"sender": "OLGA", "recipient": "ALL", "message": "Good luck, all of you."},
    ]
    assert [(one, who) for one, who, _ in heard({"phases": [{"messages": said}]})] == [
        ("private", "OLGA"), ("private", "PER"), ("public", "OLGA"),
    ]  # fmt: skip


def test_elements_beside_a_message_are_private() -> None:
    text = "<my goals> Pay at most <Gold> 7 </my goals>\n<reason> He may yield </reason>\n<message> I offer 5. </message>"
    transcript = read(lines({"speaker": "Olga", "text": text}, {"speaker": "Per", "text": "<b>No</b>, 8."}))
    assert told(transcript) == [
        ("private", "Olga", "my goals:  Pay at most <Gold> 7"), ("private", "Olga", "He may yield"),
        ("public", "Olga", "I offer 5."), ("public", "Per", "<b>No</b>, 8."),
    ]  # fmt: skip


def test_headings_of_a_speaker_and_sentences_are_no_players() -> None:
    text = (
        "Players: Olga, Per, Rui\nOlga: Good morning, all of you.\nPer: I saw Rui last night, I think.\n"
        "[LAST WORDS] Rui's final statement:\nRui: I am no wolf, Olga.\n"
        "The vote failed. Turn counter: 1\nPer: We go on, then.\nThe vote failed. Turn counter: 2\n"
    )
    found = result(text)
    transcript = found.transcript or found.preview
    assert transcript is not None
    assert set(transcript.player_names) == {"Olga", "Per", "Rui"}


def test_a_number_in_front_is_no_part_of_a_name() -> None:
    text = (
        "0 OLGA -> INGRID: You and I, against all the others?\n1 INGRID -> OLGA: Yes, that would suit me well.\n"
        "2 OLGA -> INGRID: Good, then we go north.\n3 INGRID -> RUI: Hello RUI, will you join us?\n"
    )
    assert {speaker for _, speaker, _ in heard(text)} == {"OLGA", "INGRID"}


def test_all_chats_of_a_telegram_export() -> None:
    def said(*texts: str) -> list[dict[str, str]]:
        people = ("Olga", "Per")
        return [
            {"type": "message", "date_unixtime": f"15440063{place}0", "from": people[place % 2], "text": text}
            for place, text in enumerate(texts)
        ]

    content = {"chats": {"list": [{"name": "Evening", "messages": said("Hello", "Hello, Olga")}]}}
    assert told(read(content, "telegram")) == [("public", "Olga", "Hello"), ("public", "Per", "Hello, Olga")]
