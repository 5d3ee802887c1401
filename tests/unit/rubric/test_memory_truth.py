"""Memory accuracy: a false sentence is never accurate and a true one never inaccurate, over all players and rounds.

The truth of each sentence is computed here from the votes, without any parsing.
"""

from collections.abc import Callable, Iterator
from itertools import permutations

import pytest

from evaluation.rubric.metrics import memory_accuracy
from evaluation.transcript import Elimination, Transcript, Vote
from tests.games import game_of

NAMES = ("Mara", "Priya", "Jonas", "Wren", "Theo", "Ivy", "Otis", "Cole")
VOTES = {
    1: {"Mara": "Cole", "Priya": "Cole", "Jonas": "Ivy", "Wren": "Cole", "Theo": "Cole", "Ivy": "Otis", "Otis": "Ivy"},
    2: dict.fromkeys(("Mara", "Wren"), "Theo") | dict.fromkeys(("Priya", "Jonas", "Theo", "Ivy", "Otis"), "Wren"),
}
OUT = {1: "Cole", 2: "Wren"}
ROUNDS = tuple(VOTES)
SPEAKER = "Otis"


def game(*texts: str) -> Transcript:
    """Two rounds of votes, and what is said in the third."""
    return game_of(
        [(SPEAKER, text) for text in texts],
        {name: {"role": "Villager", "alignment": "town"} for name in NAMES},
        round=3,
        language="en",
        votes=tuple(Vote(round=number, voter=a, target=b) for number in ROUNDS for a, b in VOTES[number].items()),
        eliminations=tuple(Elimination(round=number, player=name, role="Villager") for number, name in OUT.items()),
    )


def voted(voter: str, target: str, *rounds: int) -> list[bool]:
    """For each round whether the voter voted for the target."""
    return [VOTES[number].get(voter) == target for number in rounds or ROUNDS]


def voters(target: str, number: int) -> set[str]:
    return {name for name, chosen in VOTES[number].items() if chosen == target}


def together(a: str, b: str) -> list[bool]:
    return [VOTES[n].get(a) == VOTES[n].get(b) is not None for n in ROUNDS]


def is_changed(a: str, b: str, c: str) -> bool:
    return VOTES[1].get(a) == b and VOTES[2].get(a) == c


Truth = Callable[[str, str, str, int], bool]
SENTENCES: dict[str, Truth] = {
    "{a} voted for {b} in round {n}.": lambda a, b, c, n: any(voted(a, b, n)),
    "{a} did not vote for {b} in round {n}.": lambda a, b, c, n: not any(voted(a, b, n)),
    "{a} voted for {b} in both rounds.": lambda a, b, c, n: len(voted(a, b)) == 2 and all(voted(a, b)),
    "{a} voted for {b} every single time.": lambda a, b, c, n: all(voted(a, b)) and bool(voted(a, b)),
    "{a} voted for {b} twice.": lambda a, b, c, n: sum(voted(a, b)) >= 2,
    "{a} has never voted for {b}.": lambda a, b, c, n: not any(voted(a, b)),
    "{a} and {b} have voted together in both rounds.": lambda a, b, c, n: all(together(a, b)),
    "{a} has voted with {b} every single time.": lambda a, b, c, n: all(together(a, b)),
    "{a} and {b} never voted together.": lambda a, b, c, n: not any(together(a, b)),
    "{a} and {b} both voted for {c} in round {n}.": lambda a, b, c, n: all(voted(a, c, n) + voted(b, c, n)),
    "Neither {a} nor {b} voted for {c} in round {n}.": lambda a, b, c, n: not any(voted(a, c, n) + voted(b, c, n)),
    "Nobody but {a} voted for {b} in round {n}.": lambda a, b, c, n: voters(b, n) == {a},
    "Only {a} voted for {b} in round {n}.": lambda a, b, c, n: voters(b, n) == {a},
    "{a} alone voted for {b} in round {n}.": lambda a, b, c, n: voters(b, n) == {a},
    "Everyone voted for {b} in round {n}.": lambda a, b, c, n: voters(b, n) >= set(VOTES[n]) - {b},
    "Everyone but {a} voted for {b} in round {n}.": lambda a, b, c, n: (
        voters(b, n) == set(VOTES[n]) - {a, b} and a in VOTES[n]
    ),
    "Everyone except {a} and {b} voted for {c} in round {n}.": lambda a, b, c, n: (
        voters(c, n) == set(VOTES[n]) - {a, b, c} and {a, b} - {c} <= set(VOTES[n])
    ),
    "All of us voted for {b} in round {n}.": lambda a, b, c, n: voters(b, n) >= set(VOTES[n]) - {b},
    "Nobody voted for {b} in round {n}.": lambda a, b, c, n: not voters(b, n),
    "Nobody has ever voted for {b}.": lambda a, b, c, n: not any(voters(b, one) for one in ROUNDS),
    "{b} was voted out unanimously in round {n}.": lambda a, b, c, n: (
        OUT[n] == b and voters(b, n) >= set(VOTES[n]) - {b}
    ),
    "Everybody voted {b} out in round {n}.": lambda a, b, c, n: OUT[n] == b and voters(b, n) >= set(VOTES[n]) - {b},
    "{b} was voted out in round {n}.": lambda a, b, c, n: OUT[n] == b,
    "{b} was voted out with 5 votes in round {n}.": lambda a, b, c, n: OUT[n] == b and len(voters(b, n)) == 5,
    "{b} was voted out by {a} and {c} in round {n}.": lambda a, b, c, n: OUT[n] == b and {a, c} <= voters(b, n),
    "{b} got 4 votes in round {n}.": lambda a, b, c, n: len(voters(b, n)) == 4,
    "{a} changed their vote from {b} to {c} between rounds.": lambda a, b, c, n: is_changed(a, b, c),
    "{a} flipped from {b} to {c} in round 1.": lambda a, b, c, n: False,
    "{a} switched from {b} to {c} in round 2.": lambda a, b, c, n: is_changed(a, b, c),
    "{a} voted for {b} and then for {c}.": lambda a, b, c, n: is_changed(a, b, c),
    "{a} voted for {b} in round 1 and {c} in round 2.": lambda a, b, c, n: is_changed(a, b, c),
    "First {a} voted for {b}, then for {c}.": lambda a, b, c, n: is_changed(a, b, c),
    "{a} and {b} voted for different people in both rounds.": lambda a, b, c, n: not any(together(a, b)),
    "{a} and {b} voted the same way in round {n}.": lambda a, b, c, n: together(a, b)[n - 1],
    "{a} is the only one who never voted for {b}.": lambda a, b, c, n: (
        not any(voted(a, b)) and all(any(voted(one, b)) for one in VOTES[1] if one not in (a, b))
    ),
    "{a} voted for {b}, but {c} did not, in round {n}.": lambda a, b, c, n: (
        any(voted(a, b, n)) and not any(voted(c, b, n))
    ),
    "Most of us voted for {b} in round {n}.": lambda a, b, c, n: 2 * len(voters(b, n)) > len(VOTES[n]),
    "Exactly five people voted for {b} in round {n}.": lambda a, b, c, n: len(voters(b, n)) == 5,
    "Fewer than three people voted for {b} in round {n}.": lambda a, b, c, n: len(voters(b, n)) < 3,
    "It was {a}, not {c}, who voted for {b} in round {n}.": lambda a, b, c, n: (
        any(voted(a, b, n)) and not any(voted(c, b, n))
    ),
    "{a}, {b} and {c} all voted for Cole in round 1.": lambda a, b, c, n: {a, b, c} <= voters("Cole", 1),
    "{a} and {b} were the last two to vote for {c}.": lambda a, b, c, n: False,
}


def sentences(template: str) -> Iterator[tuple[str, bool]]:
    is_true = SENTENCES[template]
    told: dict[str, bool] = {}
    for a, b, c in permutations(NAMES, 3):
        # About oneself other words are used, and somebody who is out does not vote.
        if SPEAKER in (a, b, c) or (a == "Cole" or (c == "Cole" and "{b} voted" not in template)):
            continue
        for number in ROUNDS:
            told[template.format(a=a, b=b, c=c, n=number)] = is_true(a, b, c, number)
    return iter(told.items())


@pytest.mark.parametrize("template", SENTENCES)
def test_no_false_sentence_is_accurate_and_no_true_one_inaccurate(template: str) -> None:
    told = list(sentences(template))
    transcript = game(*[text for text, _ in told])
    found: dict[str, list[str]] = {}
    for row in memory_accuracy.measure(transcript).ledger:
        assert row.message_id is not None
        found.setdefault(row.message_id, []).append(str(row.details["finding"]))
    for message, (text, is_true) in zip(transcript.messages, told, strict=True):
        verdicts = found.get(message.id, [])
        if is_true:
            assert "inaccurate" not in verdicts, text
        elif verdicts:
            # Of several references in one sentence one may be true by itself.
            assert set(verdicts) != {"accurate"}, text


NO_REFERENCES = (
    "Last game Mara voted for Cole in round 1.|In the previous game Mara was Mafia.|"
    "In another game Priya voted for Theo.|I wish Mara had voted for Theo in round 1.|"
    "If Mara had voted for Theo in round 1, Cole would be alive.|Mara should have voted for Theo in round 1.|"
    "Mara would have voted for Theo in round 1.|Mara will vote for Theo in round 4.|"
    "Let us hope Mara voted for Theo in round 1.|Suppose Mara voted for Theo in round 1.|"
    "A player who is voted out reveals their role.|Two games ago Wren voted for me.|"
    "Let's say Mara voted for Jonas in round 1.|In another match I voted for Mara in round 1.|"
    "When I played with Mara before, Mara voted for Jonas.|In the tutorial Mara voted for Jonas.|"
    "Tomorrow I voted for Mara."
)


@pytest.mark.parametrize("text", NO_REFERENCES.split("|"))
def test_wishes_conditions_plans_and_other_games_are_no_references(text: str) -> None:
    assert memory_accuracy.measure(game(text)).ledger == ()


ATTACKS = (
    "Priya and I voted differently in round 2.|Wren was eliminated first.|Just Mara voted for Cole in round 1.|"
    "Mara voted for Cole in rounds 1 and 2.|Mara voted for Cole in round 1 and 2.|"
    "Mara voted for Cole from round 1 to 2.|Mara voted for Cole since round 1.|"
    "Mara voted for Cole round after round.|Mara voted for Cole in round 1 and has voted for him ever since.|"
    "Mara kept voting for Cole.|Mara voted for Cole in round 1, and so did Jonas.|"
    "Like Ivy, Mara voted for Cole in round 1.|Along with Jonas, Mara voted for Cole in round 1.|"
    "Mara voted for Cole in round 1, as did everybody.|Mara voted for Cole in round 1 along with everyone else.|"
    "Mara voted for Cole in round 1, and nobody followed.|Mara voted for Cole in round 1 before anyone else.|"
    "Mara voted for Cole in round 1 with no one else.|Mara voted for Cole last in round 1.|"
    "Mara voted for Cole in round 1 (Jonas too).|Mara voted for Cole in round 1; Jonas as well.|"
    "Mara voted Cole out single-handedly in round 1.|Cole was voted out 5-2 in round 1.|"
    "Cole was voted out in round 1 as the Mafia.|Few voted for Cole in round 1.|"
    "It is not true that Mara voted for Cole in round 1.|It's false that Mara voted for Cole in round 1."
)


@pytest.mark.parametrize("text", ATTACKS.split("|"))
def test_a_reader_with_fresh_eyes_finds_no_false_sentence_accurate(text: str) -> None:
    verdicts = {str(row.details["finding"]) for row in memory_accuracy.measure(game(text)).ledger}
    assert verdicts != {"accurate"}


@pytest.mark.parametrize(
    "text", ["It's false that Mara voted for Otis in round 1.", "It is not true that Mara voted for Jonas."]
)
def test_a_denial_of_what_was_not_so_is_never_inaccurate(text: str) -> None:
    assert "inaccurate" not in {str(row.details["finding"]) for row in memory_accuracy.measure(game(text)).ledger}


SHARED = {
    "Mara voted for Cole in round 1, and so did Priya.": "accurate",
    "Mara voted for Cole, and so did Wren and Theo.": "accurate",
    "I voted for Ivy, and so did Jonas.": "accurate",
    "Mara voted for Cole, and so did Jonas.": "inaccurate",
    "Mara voted for Cole in round 1 and so did Ivy.": "inaccurate",
    "I voted for Cole, and so did Mara.": "inaccurate",
    # One round must hold it all.
    "Wren voted for Theo, and so did Theo.": "inaccurate",
    # What is not all of the sentence, or not in the record, stays open.
    "Mara voted for Cole, and so did Cole.": "unverified",
    "Mara voted for Cole in round 1, and so did Priya in round 2.": "unverified",
    "Mara voted for Cole, and so did half of us.": "unverified",
}


@pytest.mark.parametrize("text", SHARED)
def test_a_vote_that_others_share_is_settled_where_the_round_is_recorded(text: str) -> None:
    assert [row.details["finding"] for row in memory_accuracy.measure(game(text)).ledger] == [SHARED[text]]
