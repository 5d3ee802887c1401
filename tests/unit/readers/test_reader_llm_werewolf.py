import json
from typing import Any

import pytest

from tests.unit.readers.reading import read, refusal


def match(*chat: dict[str, Any], **changes: Any) -> bytes:
    players = {
        name: {"model": "m", "character": role, "is_alive": True}
        for name, role in (("Ann", "WEREWOLF"), ("Bob", "WEREWOLF"), ("Cy", "VILLAGER"), ("Di", "VILLAGER"))
    }
    return json.dumps({"chat": chat, "players": players, "winner": None} | changes).encode()


def line(speaker: str, text: str, to: object = ("Ann", "Bob", "Cy", "Di"), **more: Any) -> dict[str, Any]:
    return {"from": speaker, "to": to, "content": text} | more


@pytest.mark.parametrize(
    ("to", "phase_line", "channel"),
    [
        (["Ann", "Bob", "Cy", "Di"], "It is now day time. Discuss.", "public"),
        (["Bob", "Cy", "Di"], "Day breaks. Discuss.", "public"),
        (["Ann", "Bob"], "Night falls. Werewolves awaken.", "team"),
        (["Cy"], "It is now day time. Discuss.", "private"),
        (["Cy"], "Night falls.", "private"),
        ("Cy", "It is now day time.", "private"),
        # A last werewolf, who is the whole team.
        (["Ann"], "It is now night time.", "team"),
    ],
)
def test_recipients_decide_the_channel(to: object, phase_line: str, channel: str) -> None:
    transcript = read(match(line("Moderator", phase_line), line("Ann", "Well then.", to)))
    assert transcript.messages[1].channel == channel


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


UNKNOWN = 'Found the text "Zed", expected one of the players (Ann, Bob, Cy, Di)'
REFUSALS = [
    (match(line("Zed", "Hi.")), f"$.chat[0].from: {UNKNOWN}."),
    (match(line("Moderator", "Zed has voted to kill Ann.")), f"$.chat[0].content: {UNKNOWN} in the vote."),
    (match(line("Moderator", "Ann has voted to kill Zed.")), f"$.chat[0].content: {UNKNOWN} in the vote."),
    (match({"from": "Ann", "to": []}), "$.chat[0].content: Found nothing, expected text."),
    (match(line("Ann", "Hi.", {"a": 1})), "$.chat[0].to: Found an object, expected a list."),
    (match(line("Ann", "Hi."), players=["Ann"]), "$.players: Found a list of 1 item, expected an object."),
]


@pytest.mark.parametrize(("data", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_match_is_refused_with_its_place(data: bytes, expected: str) -> None:
    assert refusal(data).startswith(expected)
