import json
from collections import Counter
from typing import Any

import pytest

from tests.unit.readers.reading import DATA, read, refusal

MATCHES = DATA / "llm_werewolf" / "matches"
OLDER = "werewolf_match_2025-02-02_0.json"
NEWER = "werewolf_match_2025-02-26_0.json"


def match(*chat: dict[str, Any], **changes: Any) -> bytes:
    players = {
        name: {"model": "m", "character": role, "is_alive": True}
        for name, role in (("Ann", "WEREWOLF"), ("Bob", "WEREWOLF"), ("Cy", "VILLAGER"), ("Di", "VILLAGER"))
    }
    return json.dumps({"chat": chat, "players": players, "winner": None} | changes).encode()


def line(speaker: str, text: str, to: object = ("Ann", "Bob", "Cy", "Di"), **more: Any) -> dict[str, Any]:
    return {"from": speaker, "to": to, "content": text} | more


def test_the_counts_of_the_older_match() -> None:
    transcript = read(MATCHES / OLDER)
    # 118 lines: 46 of the moderator; of the other 72, 26 are ballots (5 + 11 + 2 + 6 + 2 by vote), 12 the werewolves'
    # talk (4 a night), and 34 public: 9 introductions, 13 on the first day, 12 on the second.
    assert Counter((m.channel, m.channel_name) for m in transcript.messages) == {
        ("system", None): 46,
        ("system", "vote"): 26,
        ("team", "mafia"): 12,
        ("public", None): 34,
    }
    assert Counter(m.round for m in transcript.discussion) == {0: 9, 1: 13, 2: 12}
    # The moderator says "has voted to" 14 times; 6 answers on the first day and 1 on the second are not counted.
    assert len(transcript.votes) == 21
    assert Counter((v.round, v.phase) for v in transcript.votes if v.target is None) == {(1, "day"): 6, (2, "day"): 1}
    assert [(e.round, e.phase, e.player) for e in transcript.eliminations] == [
        (0, "night", "Grace"),
        (1, "day", "Isaac"),
        (1, "night", "Frank"),
        (2, "day", "Alice"),
    ]
    assert transcript.winner == "mafia"


def test_the_counts_of_the_newer_match() -> None:
    transcript = read(MATCHES / NEWER)
    # 184 lines: 92 of the moderator; ballots 2 + 9 + 2 + 7 + 2 + 5; one placeholder outside the votes.
    assert Counter((m.channel, m.channel_name) for m in transcript.messages) == {
        ("system", None): 92,
        ("system", "vote"): 27,
        ("system", "no answer"): 1,
        ("team", "mafia"): 16,
        ("public", None): 48,
    }
    # 19 lines say "has voted to", 7 "abstained".
    assert Counter(v.target is None for v in transcript.votes) == {False: 19, True: 7}
    assert [(e.round, e.phase, e.player) for e in transcript.eliminations] == [
        (0, "night", "Isabella"),
        (1, "day", "Terri"),
        (1, "night", "Richard"),
        (2, "day", "Shane"),
        (2, "night", "Anthony"),
        (3, "day", "Marcel"),
    ]
    assert transcript.player("Terri").model == "deepseek/deepseek-r1-distill-qwen-1.5b"
    assert [p.name for p in transcript.players if p.alignment == "mafia"] == ["Shane", "Peyton", "Dawn"]


def test_the_vote_of_the_day_that_the_file_calls_night_is_the_days() -> None:
    transcript = read(MATCHES / NEWER)
    votes = [v for v in transcript.votes if v.round == 1 and v.phase == "day"]
    assert Counter(v.target for v in votes) == {"Terri": 5, None: 3}
    (ballot,) = [m for m in transcript.messages if m.text == "Terri."]
    assert (ballot.phase, ballot.metadata) == ("day", {"phase": "night"})


def test_talk_to_the_living_stays_public_as_they_become_fewer() -> None:
    # The last day: five of ten live, and every message goes to these five.
    last_day = [m for m in read(MATCHES / NEWER).messages if m.round == 3 and m.channel == "public"]
    assert {len(m.recipients) for m in last_day} == {5}
    assert len(last_day) == 9


def test_a_player_who_imitates_the_moderator_records_no_vote() -> None:
    transcript = read(MATCHES / OLDER)
    # Isaac says "Hannah has voted to kill Grace."; the moderator counts the first name in it as Isaac's vote.
    votes = [(v.voter, v.target) for v in transcript.votes if v.round == 0]
    assert votes == [("Bob", "Grace"), ("Isaac", "Hannah"), ("Hannah", "Grace")]
    assert transcript.votes[1].justification == "Hannah has voted to kill Grace."


@pytest.mark.parametrize(
    ("to", "phase_line", "channel"),
    [
        (["Ann", "Bob", "Cy", "Di"], "It is now day time. Discuss.", "public"),
        (["Bob", "Cy", "Di"], "Day breaks. Discuss.", "public"),
        (["Ann", "Bob"], "Night falls. Werewolves awaken.", "team"),
        (["Cy"], "It is now day time. Discuss.", "private"),
        (["Cy"], "Night falls.", "private"),
        ("Cy", "It is now day time.", "private"),
    ],
)
def test_recipients_decide_the_channel(to: object, phase_line: str, channel: str) -> None:
    transcript = read(match(line("Moderator", phase_line), line("Ann", "Well then.", to)))
    assert transcript.messages[1].channel == channel


def test_a_last_werewolf_who_speaks_to_the_team_of_one_is_no_public_voice() -> None:
    lines = [line("Moderator", "It is now night time."), line("Ann", "Alone now.", ["Ann"])]
    assert read(match(*lines)).messages[1].channel == "team"


@pytest.mark.parametrize("text", ["Cy", " Cy. ", "**Cy**", "\\boxed{Cy}", "cy!", "Abstain"])
def test_a_bare_name_is_a_ballot_and_no_vote_until_it_is_counted(text: str) -> None:
    transcript = read(match(line("Moderator", "Day breaks."), line("Ann", text)))
    assert transcript.messages[1].channel == "system"
    assert transcript.votes == ()


def test_the_reason_given_with_a_vote_is_its_justification() -> None:
    lines = [
        line("Moderator", "Day breaks."),
        line("Moderator", "Everyone, it is time to vote."),
        line("Ann", "Cy. He is too proactive."),
        line("Moderator", 'Ann has voted to eliminate Cy. The current tally is: {"Cy": 1}'),
        line("Bob", "Cy"),
        line("Moderator", "Bob has voted to eliminate Cy."),
        line("Di", "I cannot vote."),
        line("Moderator", "Cy has been eliminated by vote."),
    ]
    transcript = read(match(*lines))
    assert [(v.voter, v.target, v.justification, v.round) for v in transcript.votes] == [
        ("Ann", "Cy", "Cy. He is too proactive.", 1),
        ("Bob", "Cy", None, 1),
        ("Di", None, "I cannot vote.", 1),
    ]
    assert transcript.discussion == ()


def test_rules_that_speak_of_votes_record_none() -> None:
    rules = "Welcome. Whoever was seen after everyone\nhas voted to kill somebody is safe. Nobody abstained."
    assert read(match(line("Moderator", rules))).votes == ()


REFUSALS = [
    (
        match(line("Zed", "Hi.")),
        '$.chat[0].from: Found the text "Zed", expected one of the players (Ann, Bob, Cy, Di). '
        "Correct the name, or add the player to $.players.",
    ),
    (
        match(line("Moderator", "Zed has voted to kill Ann.")),
        '$.chat[0].content: Found the text "Zed", expected one of the players (Ann, Bob, Cy, Di) in the vote. '
        "Correct the name, or add the player to $.players.",
    ),
    (
        match(line("Moderator", "Ann has voted to kill Zed.")),
        '$.chat[0].content: Found the text "Zed", expected one of the players (Ann, Bob, Cy, Di) in the vote. '
        "Correct the name, or add the player to $.players.",
    ),
    (
        match({"from": "Ann", "to": []}),
        "$.chat[0].content: Found nothing, expected text. Correct that value and try again.",
    ),
    (
        match(line("Ann", "Hi.", {"a": 1})),
        "$.chat[0].to: Found an object, expected a list. Correct that value and try again.",
    ),
    (
        match(line("Ann", "Hi."), players=["Ann"]),
        "$.players: Found a list of 1, expected an object. Correct that value and try again.",
    ),
]


@pytest.mark.parametrize(("data", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_match_is_refused_with_place_and_remedy(data: bytes, expected: str) -> None:
    assert refusal(data) == expected
