import pytest

from tests.unit.readers.reading import read, refusal

PAGE = """# Werewolf GPT - Recorded Play

Player number 1 is named **Ann**, and they have the ***Seer*** card.

Player number 2 is named **Bob**, and they have the ***Werewolf*** card.

## The ***DAY*** phase will now commence.

>***GAME:*** Everyone, Wake up!

***Bob (thoughts as Werewolf):*** *Be calm.*
> **Bob:** Hello.
> I am new here.

And so are you.

## The ***VOTE*** phase will now commence.

> **Ann [Seer]:** I am voting for Bob.
"""


def test_thoughts_quotes_and_votes_are_told_apart() -> None:
    transcript = read(PAGE)
    assert [(m.channel, m.phase, m.speaker, m.text) for m in transcript.messages] == [
        ("system", "day", "GAME", "Everyone, Wake up!"),
        ("private", "day", "Bob", "Be calm."),
        ("public", "day", "Bob", "Hello.\nI am new here.\nAnd so are you."),
        ("system", "vote", "Ann", "I am voting for Bob."),
    ]
    assert transcript.messages[1].metadata == {"thinks_as": "Werewolf"}
    assert [(v.voter, v.target, v.round) for v in transcript.votes] == [("Ann", "Bob", 1)]


def test_a_tie_kills_two() -> None:
    transcript = read(PAGE + "\n> ***GAME:*** Ann and Bob were killed. The villagers win.\n")
    assert [e.player for e in transcript.eliminations] == ["Ann", "Bob"]
    assert transcript.winner == "town"


SILENT = PAGE.replace("> **Bob:** Hello.\n", "").replace("***Bob (thoughts as Werewolf):*** *Be calm.*\n", "")
REFUSALS = [
    (PAGE.replace("> **Bob:** Hello.", "> **Zed:** Hello."), "line 12: 'Zed' is not among the players (Ann, Bob)."),
    (PAGE.replace("voting for Bob", "voting for Zed"), "line 19: 'Zed' is not among the players (Ann, Bob)."),
    (SILENT, 'line 11: "I am new here." has no speaker.'),
    ("# Werewolf GPT - Recorded Play\n", "No player is introduced"),
]


@pytest.mark.parametrize(("text", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_page_is_refused_with_its_place(text: str, expected: str) -> None:
    assert refusal(text).startswith(expected)
