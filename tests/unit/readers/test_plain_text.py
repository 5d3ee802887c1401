"""Plain text: forty transcripts of many shapes, and what was found to be read wrongly.

``plain/readings.json`` holds what each of the forty says, in agreement with somebody who had not seen the code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import Answers, ReadResult
from evaluation.transcript import Message
from tests.unit.readers.reading import read, refusal, result, shown

FOLDER = Path(__file__).parent / "plain"
READINGS: dict[str, Any] = json.loads((FOLDER / "readings.json").read_text(encoding="utf-8"))


def place(message: Message) -> list[object]:
    return [message.round, message.phase, message.channel, message.channel_name]


def reading(found: ReadResult) -> dict[str, Any]:
    """What a reading says, as the file of readings has it."""
    transcript = found.transcript or found.preview
    asked = [[str(question.topic), question.name, question.taken] for question in found.questions]
    if transcript is None:
        return {"error": str(found.error)}
    return {
        "asked": asked,
        "players": [[player.name, player.role] for player in transcript.players],
        "messages": [
            [*place(m), m.speaker, [*m.recipients], m.sent_at and str(m.sent_at), m.text] for m in transcript.messages
        ],
        "votes": [[vote.round, vote.phase, vote.voter, vote.target] for vote in transcript.votes],
        "gone": [[one.round, one.phase, one.player, one.role] for one in transcript.eliminations],
        "winner": transcript.winner,
    }


@pytest.mark.parametrize("name", READINGS)
def test_forty_transcripts_of_many_shapes(name: str) -> None:
    assert reading(result(FOLDER / name)) == READINGS[name]


NO_TRANSCRIPTS = {
    "settings": "speakers:\n  - name: ann\n    rule: first\n  - name: bob\n    rule: second\nrounds:\n  rule: all\n",
    "prose": "Dear all,\n\nI have one remark: nobody asked me. That was in May.\n\nYours, Ann\n",
    "a log": "INFO: starting\nINFO: reading\nERROR: no file\n",
    "code": 'def ann():\n    """Says: hello."""\n    return {"a": 1}\n',
}


@pytest.mark.parametrize("text", NO_TRANSCRIPTS.values(), ids=NO_TRANSCRIPTS)
def test_texts_that_are_no_transcripts_are_refused(text: str) -> None:
    found = result(text)
    assert found.preview is None
    assert found.error.remedy


def test_messages_under_a_night_are_not_public_and_asked_about() -> None:
    text = "Day 1\nAnn: Hello, Bob.\nBob: Hello.\nNight 1\nModerator: Wake up.\nAnn: We kill Cid.\nDay 2\nBob: Who?\n"
    found = result(text)
    assert found.transcript is not None
    assert [(question.name, question.taken) for question in found.questions] == [("night", "team")]
    assert found.questions[0].words.startswith('1 message stands under "night"')
    answered = result(text, answers=Answers(channels={"night": "public"}))
    assert [one.channel for one in answered.transcript.messages] == ["public", "public", "system", "public", "public"]
    assert not answered.questions


def told(text: str, **answers: Any) -> list[tuple[str, str, str]]:
    said = shown(text, answers=Answers(**answers)).messages
    return [(m.speaker, "" if m.channel == "public" else m.channel, m.text) for m in said]


GREETING = "Ann: Hello, Ben.\nBen: Hello, Ann.\nCleo: Hello, both.\n"
HELLO = [("Ann", "", "Hello, Ben."), ("Ben", "", "Hello, Ann."), ("Cleo", "", "Hello, both.")]
ATTACKED: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "a round before the name": (
        f"{GREETING}[Round 1] Ann: Because you lie.\nRound 2: Cleo: I vote Ben\n",
        [*HELLO, ("Ann", "", "Because you lie."), ("Cleo", "", "I vote Ben")],
    ),
    "a list inside a message": (
        f"{GREETING}Ann: My reads:\n- Ben is a wolf\n* private matters\n1. Ben: 70 % wolf\nso vote Ben\nBen: no\n",
        [
            *HELLO,
            ("Ann", "", "My reads:\n- Ben is a wolf\n* private matters\n1. Ben: 70 % wolf\nso vote Ben"),
            ("Ben", "", "no"),
        ],
    ),
    "a title": (f"# Night of the wolves\n{GREETING}", [("System", "system", "# Night of the wolves"), *HELLO]),
    "a clock before the date": (
        "[9:15 PM, 6/13/2024] Ann: Hello, Ben.\n[9:16 PM, 6/13/2024] Ben: Hello, Ann.\n",
        HELLO[:2],
    ),
    "results with times": (
        "[10:00] Ann: Hello, Ben.\n[10:01] Ben: Hello, Ann.\n[12:05] Ann voted for Ben\n[12:06] Ben was eliminated\n",
        [*HELLO[:2], ("System", "system", "Ann voted for Ben"), ("System", "system", "Ben was eliminated")],
    ),
    "a fence that a speaker opens": (
        f'{GREETING}Ben: ```json\n{{"vote": "Ann"}}\n```\nCleo: Well.\n',
        [*HELLO, ("Ben", "", '```json\n{"vote": "Ann"}\n```'), ("Cleo", "", "Well.")],
    ),
    "a fence that nobody closes": (
        f"{GREETING}Ben: see ```\nCleo: Well.\n",
        [*HELLO, ("Ben", "", "see ```"), ("Cleo", "", "Well.")],
    ),
    "a thought that nobody closes": (
        "Ann: <think>I forgot\nBen: Hello, Ann.\nAnn: Hm.\nBen: plan: lie</think> I am town\n",
        [
            ("Ann", "private", "I forgot"),
            ("Ben", "", "Hello, Ann."),
            ("Ann", "", "Hm."),
            ("Ben", "private", "plan: lie"),
            ("Ben", "", "I am town"),
        ],
    ),
    "a name in bold beside one that is not": (
        "**Ann:** Hello, Ben.\n**Ben:** Hello, Ann and Cleo.\nCleo: I think so.\n**Ann:** Hm.\n**Ben:** Well.\n",
        [
            ("Ann", "", "Hello, Ben."),
            ("Ben", "", "Hello, Ann and Cleo."),
            ("Cleo", "", "I think so."),
            ("Ann", "", "Hm."),
            ("Ben", "", "Well."),
        ],
    ),
    "a time behind the name": ("Ann (10:03): Hello, Ben.\nBen (10:04): Hello, Ann.\n", HELLO[:2]),
    "votes below Voting": (
        f"{GREETING}Voting:\nAnn: Ben\nBen -> Ann\n",
        [*HELLO, ("System", "system", "Voting:"), ("System", "system", "Ann: Ben"), ("System", "system", "Ben -> Ann")],
    ),
}


@pytest.mark.parametrize(("text", "expected"), ATTACKED.values(), ids=ATTACKED)
def test_files_that_a_reader_with_fresh_eyes_broke(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert told(text) == expected


SUPPOSED = (
    "If Ben was eliminated, we win.|Remember: if Cleo dies, the wolves win.|The villagers think Ben was killed?|"
    "Ann died laughing.|Ben is dead to me.|Yesterday Nell was quiet.|Ann was removed from the chat"
)


@pytest.mark.parametrize("line", SUPPOSED.split("|"))
def test_a_moderator_who_supposes_eliminates_nobody(line: str) -> None:
    transcript = read(f"{GREETING}Moderator: {line}\n")
    assert (transcript.eliminations, transcript.winner) == ((), None)
    assert transcript.player_names == ("Ann", "Ben", "Cleo")


def test_a_winner_in_the_last_sentence_of_a_line_counts() -> None:
    transcript = read(f"{GREETING}Moderator: Ben was voted out. He was a wolf. Villagers win!\n")
    assert (transcript.winner, transcript.eliminations[0].player) == ("town", "Ben")


def test_a_list_of_roles_without_players_makes_none() -> None:
    assert read(f"Roles: Werewolf, Seer, 2 Villagers\n{GREETING}").player_names == ("Ann", "Ben", "Cleo")


def test_an_answer_holds_in_any_case_and_never_against_the_numbers_of_dates() -> None:
    assert ("God", "system", "Sleep.") in told(f"{GREETING}God: Sleep.\n", speakers={"god": "moderator"})
    dates = "[01/06/2024, 10:00] Ann: Hi\n[13/06/2024, 10:00] Ben: Ho\n"
    transcript = read(dates, answers=Answers(dates="month-first"))
    assert [m.sent_at and m.sent_at.month for m in transcript.messages] == [6, 6]


def test_bytes_that_are_not_unicode_are_asked_about() -> None:
    path = FOLDER / "29-latin-1-asked.txt"
    assert "line 1: Byte 0xFC (number 2 of the file) is not valid UTF-8. It was read as Windows-1252." in refusal(path)
    said = "".join(f"{name}: Grüße, schöne und späte, an alle.\n" for name in ("Zoë", "Käthe") * 3).encode()
    damaged = said.replace("ß".encode(), b"\x99", 1)
    assert "So it is at 1 place, which a sign stands for." in refusal(damaged)
    assert "is not valid UTF-8. Save the file as UTF-8" in refusal(bytes(range(0x80, 0x100)) * 3 + said)
