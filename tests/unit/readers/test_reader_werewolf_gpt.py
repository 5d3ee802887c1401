from collections import Counter

import pytest

from tests.unit.readers.reading import DATA, read, refusal

PAGES = DATA / "werewolf_gpt"

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


def test_the_counts_of_page_1() -> None:
    transcript = read(PAGES / "gpt-4-001.md")
    # grep: 22 "thoughts as", 16 quotes without [Role], 5 with it, 12 "GAME:".
    assert Counter((m.channel, m.channel_name) for m in transcript.messages) == {
        ("private", "thoughts"): 22,
        ("public", None): 16,
        ("system", "vote"): 5,
        ("system", None): 12,
    }
    assert [(v.voter, v.target) for v in transcript.votes] == [
        ("Vladimir", "Dracula"),
        ("Dracula", "Vladimir"),
        ("Radu", "Dracula"),
        ("Mircea", "Dracula"),
        ("Stefan", "Vladimir"),
    ]
    assert [(e.round, e.phase, e.player, e.role) for e in transcript.eliminations] == [
        (1, "vote", "Dracula", "Villager")
    ]
    assert [(p.role, p.alignment) for p in transcript.players] == [
        ("Seer", "town"),
        ("Villager", "town"),
        ("Mason", "town"),
        ("Villager", "town"),
        ("Minion", "mafia"),
    ]
    assert {p.model for p in transcript.players} == {"gpt-4"}
    assert transcript.winner == "mafia"


def test_the_counts_of_page_4() -> None:
    transcript = read(PAGES / "gpt-4-004.md")
    assert Counter(m.channel for m in transcript.messages) == {"private": 26, "public": 20, "system": 17}
    assert [p.name for p in transcript.players if p.alignment == "mafia"] == ["Mircea", "Andrei", "Dracula"]
    assert [p.name for p in transcript.players if not p.is_alive] == ["Larisa"]
    assert str(transcript.metadata["notes"]).startswith("Additional Developer Thoughts")


def test_what_nobody_says_is_kept_in_the_metadata() -> None:
    metadata = read(PAGES / "gpt-4-001.md").metadata
    assert metadata["center_cards"] == ["Werewolf", "Mason", "Werewolf"]
    assert len(metadata["cards"]) == 8
    assert "**Stefan** is a minion and is aware that no one is a werewolf." in metadata["night"]
    assert metadata["vote_counts"] == {"Vladimir": 2, "Dracula": 3}
    assert metadata["run_details"] == {"Model": "gpt-4", "Player Count": "5", "Discussion Depth": "20"}


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


REFUSALS = [
    (
        PAGE.replace("> **Bob:** Hello.", "> **Zed:** Hello."),
        "line 12: 'Zed' is not among the players (Ann, Bob). Correct the name, or add the player's line at the top.",
    ),
    (
        PAGE.replace("voting for Bob", "voting for Zed"),
        "line 19: 'Zed' is not among the players (Ann, Bob). Correct the name, or add the player's line at the top.",
    ),
    (
        PAGE.replace("> **Bob:** Hello.\n", "").replace("***Bob (thoughts as Werewolf):*** *Be calm.*\n", ""),
        'line 11: "I am new here." has no speaker. Write "> **Name:** text".',
    ),
    (
        "# Werewolf GPT - Recorded Play\n",
        'No player is introduced ("Player number 1 is named ..."). Choose the whole page.',
    ),
]


@pytest.mark.parametrize(("text", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_page_is_refused_with_place_and_remedy(text: str, expected: str) -> None:
    assert refusal(text) == expected
