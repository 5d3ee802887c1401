"""Plain text: forty transcripts, written with their expected reading by somebody who had not seen the code.

``expected.json`` says under ``rules`` how a reading is compared with what is expected.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import Answers, ReadResult, Topic, read_path, read_upload
from evaluation.transcript import Message, Transcript

FOLDER = Path(__file__).parent / "plain"
EXPECTED: Mapping[str, Mapping[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))["files"]


def tidy(text: str) -> str:
    return " ".join(re.sub("[*_\u200e\ufeff`]", "", text).replace("\u202f", " ").split())


def faults(result: ReadResult, expected: Mapping[str, Any]) -> list[str]:
    """What of the expected reading is not so; none where one of the accepted readings of the file is."""
    found = [list(_faults(result, one)) for one in _accepted(expected)]
    return min(found, key=len)


def _accepted(expected: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield expected
    for other in expected.get("also", ()):
        yield {**expected, **other}


def _faults(result: ReadResult, expected: Mapping[str, Any]) -> Iterator[str]:
    asked = [question for question in result.questions if question.taken is None]
    transcript = result.transcript or result.preview
    if expected["refused"]:
        if transcript is not None or result.error is None or not result.error.remedy:
            yield "not refused with a remedy"
        return
    if transcript is None:
        yield f"refused: {result.error}"
        return
    if expected.get("asks_judged", True) and bool(asked) != expected["asks"]:
        yield f"asks {[question.words for question in asked]}"
    for name in expected.get("must_ask_about", ()):
        if not any(name in question.words for question in result.questions):
            yield f"does not ask about {name}"
    if expected.get("players_judged", True):
        yield from _players(transcript, expected, [q.name for q in asked if q.topic is Topic.SPEAKER])
    if expected.get("messages_judged", True):
        yield from _messages(transcript, expected)
    if expected.get("votes_judged", True):
        yield from _results(transcript, expected)


def _players(transcript: Transcript, expected: Mapping[str, Any], asked: Sequence[str]) -> Iterator[str]:
    also: Mapping[str, list[str]] = expected.get("names_also", {})
    folded = expected.get("names_case_judged", True) is False
    names = {_known_as(player.name, also, expected["players"], folded=folded) for player in transcript.players}
    wanted, optional = set(expected["players"]), set(expected.get("players_optional", ()))
    if names - optional - (set(asked) - wanted) != wanted - optional:
        yield f"players {sorted(names)} instead of {sorted(wanted)}"
    roles = {_known_as(p.name, also, expected["players"], folded=folded): p.role for p in transcript.players}
    for name, role in expected.get("roles", {}).items():
        if role is not None and (roles.get(name) or "").casefold() != role.casefold():
            yield f"role of {name}: {roles.get(name)} instead of {role}"


def _known_as(name: str, also: Mapping[str, list[str]], players: Sequence[str], *, folded: bool) -> str:
    for known, others in also.items():
        if name in others:
            return known
    if folded:
        return next((player for player in players if player.casefold() == name.casefold()), name)
    return name


def _messages(transcript: Transcript, expected: Mapping[str, Any]) -> Iterator[str]:
    loose = [tidy(line) for key in ("loose_lines", "result_lines") for line in expected.get(key, ())]
    headings = [tidy(line) for line in expected.get("headings", ())]
    actual = [message for message in transcript.messages if _rest(message, loose)]
    wanted = list(expected["messages"])
    place = 0
    for number, one in enumerate(wanted):
        joined = list(itertools.takewhile(lambda other: other.get("may_merge_with_previous"), wanted[number + 1 :]))
        texts = ["\n".join(part["text"] for part in (one, *joined[:count])) for count in range(len(joined) + 1)]
        if place < len(actual) and any(
            _matches(actual[place], {**one, "text": text}, loose, expected) for text in texts
        ):
            yield from _about(actual[place], one, expected)
            place += 1
        elif one.get("optional") or _is_merged(actual[:place], one):
            continue
        else:
            got = actual[place] if place < len(actual) else None
            shown = None if got is None else (got.channel, got.speaker, got.text[:60])
            yield f"expected {one['speaker']}: {one['text'][:60]!r}, found {shown}"
            return
    for message in actual[place:]:
        yield f"one message too many: {message.channel} {message.speaker}: {message.text[:60]!r}"
    for message in transcript.messages:
        if message.channel != "system" and set(map(tidy, message.text.split("\n"))) & set(headings):
            yield f"a heading in {message.text[:60]!r}"


def _rest(message: Message, loose: Sequence[str]) -> str:
    text = tidy(message.text)
    for line in loose:
        text = text.replace(line, "")
    return text.strip()


def _matches(message: Message, one: Mapping[str, Any], loose: Sequence[str], expected: Mapping[str, Any]) -> bool:
    texts = [tidy(text) for text in (one["text"], *one.get("text_also", ()))]
    said = _rest(message, loose)
    if message.channel == "system" and one["channel"] == "system":
        return any(text in said or said in text for text in texts)
    if said not in texts and tidy(message.text) not in texts:
        return False
    if one.get("speaker") is None or not one.get("speaker_judged", True):
        return True
    also: Mapping[str, list[str]] = expected.get("names_also", {})
    folded = expected.get("names_case_judged", True) is False
    return _known_as(message.speaker, also, expected["players"], folded=folded) == one["speaker"]


def _is_merged(before: Sequence[Message], one: Mapping[str, Any]) -> bool:
    return bool(one.get("may_merge_with_previous") and before and tidy(one["text"]) in tidy(before[-1].text))


def _about(message: Message, one: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    said = f"{message.speaker}: {message.text[:40]!r}"
    if message.channel not in (one["channel"], *one.get("channel_also", ())):
        yield f"{said} is {message.channel} instead of {one['channel']}"
    if (
        one.get("recipients")
        and message.channel == one["channel"]
        and one.get("recipients_judged", True)
        and set(message.recipients) != set(one["recipients"])
    ):
        yield f"{said} to {message.recipients} instead of {one['recipients']}"
    if expected.get("rounds_judged", True) and not _fits(message.round, one["round"]):
        yield f"{said} in round {message.round} instead of {one['round']}"
    if expected.get("rounds_judged", True) and not _fits_phase(message.phase, one["phase"]):
        yield f"{said} in phase {message.phase} instead of {one['phase']}"
    if expected.get("sent_at_judged", True) and one.get("sent_at"):
        times = [one["sent_at"], *_listed(one.get("sent_at_also"))]
        written = "" if message.sent_at is None else message.sent_at.isoformat()
        if not any(time.replace(" ", "T") in written for time in times):
            yield f"{said} at {written} instead of {one['sent_at']}"


def _listed(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _fits(found: int | None, wanted: int | None) -> bool:
    return found in (None, 0, 1) if wanted is None else found == wanted


def _fits_phase(found: str | None, wanted: str | None) -> bool:
    return found != "night" if wanted is None else found == wanted or (wanted == "day" and found in ("vote", None))


def _results(transcript: Transcript, expected: Mapping[str, Any]) -> Iterator[str]:
    votes = {(vote.voter, vote.target): vote.round for vote in transcript.valid_votes}
    wanted = {(vote["voter"], vote["target"]): vote["round"] for vote in expected["votes"]}
    if votes.keys() != wanted.keys():
        yield f"votes {sorted(map(str, votes))} instead of {sorted(map(str, wanted))}"
    elif any(not _fits(votes[vote], wanted[vote]) for vote in votes):
        yield f"rounds of votes {votes} instead of {wanted}"
    gone = {(one.player, one.round) for one in transcript.eliminations}
    for one in expected["eliminations"]:
        if not any(player == one["player"] and _fits(number, one["round"]) for player, number in gone):
            yield f"{one['player']} does not leave in round {one['round']}: {gone}"
    if len({player for player, _ in gone}) > len(expected["eliminations"]):
        yield f"eliminations {gone} instead of {expected['eliminations']}"


@pytest.mark.parametrize("name", EXPECTED)
def test_forty_transcripts_of_many_shapes(name: str) -> None:
    (result,) = read_path(FOLDER / name)
    assert faults(result, EXPECTED[name]) == []


NO_TRANSCRIPTS = {
    "settings": "speakers:\n  - name: ann\n    rule: first\n  - name: bob\n    rule: second\nrounds:\n  rule: all\n",
    "prose": "Dear all,\n\nI have one remark: nobody asked me. That was in May.\n\nYours, Ann\n",
    "a log": "INFO: starting\nINFO: reading\nERROR: no file\n",
    "code": 'def ann():\n    """Says: hello."""\n    return {"a": 1}\n',
}


@pytest.mark.parametrize("text", NO_TRANSCRIPTS.values(), ids=NO_TRANSCRIPTS)
def test_texts_that_are_no_transcripts_are_refused(text: str) -> None:
    (result,) = read_upload("x.txt", text.encode())
    assert result.preview is None
    assert result.error is not None
    assert result.error.remedy


def test_messages_under_a_night_are_public_and_asked_about() -> None:
    text = "Day 1\nAnn: Hello, Bob.\nBob: Hello.\nNight 1\nModerator: Wake up.\nAnn: We kill Cid.\nDay 2\nBob: Who?\n"
    (result,) = read_upload("x.txt", text.encode())
    assert result.transcript is not None
    assert [(question.name, question.taken) for question in result.questions] == [("night", "public")]
    assert result.questions[0].words.startswith("1 message stands under a night")
    (answered,) = read_upload("x.txt", text.encode(), answers=Answers(channels={"night": "team"}))
    assert answered.transcript is not None
    assert [message.channel for message in answered.transcript.messages] == [
        "public",
        "public",
        "system",
        "team",
        "public",
    ]
    assert not answered.questions


def told(text: str, **answers: Any) -> list[tuple[str, str, str]]:
    (result,) = read_upload("x.txt", text.encode(), answers=Answers(**answers))
    transcript = result.transcript or result.preview
    assert transcript is not None, str(result.error)
    return [(m.speaker, "" if m.channel == "public" else m.channel, m.text) for m in transcript.messages]


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
    "a play with a colon": (
        "HAMLET. Who is there?\nOPHELIA. My lord: how are you?\nHAMLET. Well.\nOPHELIA. Good.\n",
        [
            ("HAMLET", "", "Who is there?"),
            ("OPHELIA", "", "My lord: how are you?"),
            ("HAMLET", "", "Well."),
            ("OPHELIA", "", "Good."),
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


@pytest.mark.parametrize(
    "line",
    [
        "If Ben was eliminated, we win.",
        "Remember: if Cleo dies, the wolves win.",
        "The villagers think Ben was killed?",
        "Ann died laughing.",
        "Ben is dead to me.",
        "Yesterday Nell was quiet.",
        "Ann was removed from the chat",
    ],
)
def test_a_moderator_who_supposes_eliminates_nobody(line: str) -> None:
    (result,) = read_upload("x.txt", f"{GREETING}Moderator: {line}\n".encode())
    assert result.transcript is not None
    assert result.transcript.eliminations == ()
    assert result.transcript.player_names == ("Ann", "Ben", "Cleo")
    assert result.transcript.winner is None


def test_a_winner_in_the_last_sentence_of_a_line_counts() -> None:
    (result,) = read_upload(
        "x.txt", f"{GREETING}Moderator: Ben was voted out. He was a wolf. Villagers win!\n".encode()
    )
    assert result.transcript is not None
    assert (result.transcript.winner, result.transcript.eliminations[0].player) == ("town", "Ben")


def test_a_list_of_roles_without_players_makes_none() -> None:
    (result,) = read_upload("x.txt", f"Roles: Werewolf, Seer, 2 Villagers\n{GREETING}".encode())
    assert result.transcript is not None
    assert result.transcript.player_names == ("Ann", "Ben", "Cleo")


def test_an_english_word_in_front_of_a_colon_is_asked_about() -> None:
    (result,) = read_upload("x.txt", f"{GREETING}{GREETING}Observations: nobody moved.\n".encode())
    assert [question.name for question in result.questions] == ["Observations"]


def test_an_answer_holds_in_any_case_and_never_against_the_numbers_of_dates() -> None:
    assert ("God", "system", "Sleep.") in told(f"{GREETING}God: Sleep.\n", speakers={"god": "moderator"})
    dates = "[01/06/2024, 10:00] Ann: Hi\n[13/06/2024, 10:00] Ben: Ho\n"
    (result,) = read_upload("x.txt", dates.encode(), answers=Answers(dates="month-first"))
    assert result.transcript is not None
    assert [m.sent_at and m.sent_at.month for m in result.transcript.messages] == [6, 6]
