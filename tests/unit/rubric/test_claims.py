"""References parsed to claims: who did what to whom, in which round, and where it stands in the message."""

from __future__ import annotations

import pytest

from evaluation.rubric._claims import Act, Claim
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.speech import read
from evaluation.transcript import Message, Player, Transcript

NAMES = ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie", "Agent-Delta", "Agent-Echo")
A, B, C, D, ME = NAMES


def claims_in(
    text: str, *, speaker: str = ME, reply_to: str | None = None, in_round: int | None = 3
) -> tuple[Claim, ...]:
    opening = Message(id="first", index=0, round=1, speaker=A, text="Hello all.")
    message = Message(id="m", index=1, round=in_round, speaker=speaker, text=text, reply_to=reply_to)
    players = tuple(Player(name=name) for name in NAMES)
    game = Transcript(game_id="g", source_format="t", language="en", players=players, messages=(opening, message))
    return read(Discussion.of(game))[1].claims


def parsed(text: str, **context: str) -> list[tuple[str, str | None, str | None, int | None]]:
    """Act, actor, target and round (said in round 3) of every claim; a negated act has a "not" before it."""
    return [
        (
            f"not {claim.act}" if claim.negated else str(claim.act),
            claim.actor.label,
            None if claim.target is None else claim.target.label,
            claim.when.round_for(3),
        )
        for claim in claims_in(text, **context)  # type: ignore[arg-type]
    ]


SHAPES: tuple[tuple[str, list[tuple[str, str | None, str | None, int | None]]], ...] = (
    ("Agent-Alpha voted for Agent-Bravo in Round 2", [("vote", A, B, 2)]),
    ("Agent-Charlie defended Agent-Delta last round", [("defend", C, D, 2)]),
    ("In round 2, Agent-Alpha voted for Agent-Bravo.", [("vote", A, B, 2)]),
    ("Previously Agent-Alpha voted for Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Alpha has voted for Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Alpha did vote for Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Alpha was voting for Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Alpha keeps accusing me.", [("accuse", A, ME, None)]),
    ("Agent-Alpha voted to eliminate Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Alpha switched his vote to Agent-Bravo.", [("vote", A, B, None)]),
    ("Agent-Bravo was voted for by Agent-Alpha.", [("vote", A, B, None)]),
    ("Agent-Alpha's vote for Agent-Bravo was odd.", [("vote", A, B, None)]),
    ("I voted for Agent-Bravo two rounds ago.", [("vote", ME, B, 1)]),
    ("Voted for Agent-Bravo last round, no regrets.", [("vote", ME, B, 2)]),
    ("Agent-Alpha and I voted for Agent-Bravo.", [("vote", f"{A} and {ME}", B, None)]),
    ("Agent-Alpha, Agent-Charlie and Agent-Delta voted for Agent-Bravo.", [("vote", f"{A} and {C} and {D}", B, None)]),
    ("Agent-Alpha, you voted for Agent-Bravo.", [("vote", A, B, None)]),
    ("@Agent-Alpha you voted for me!", [("vote", A, ME, None)]),
    ("You voted for me, Agent-Alpha.", [("vote", A, ME, None)]),
    ("Agent-Alpha! You voted for me.", [("vote", A, ME, None)]),
    ("You voted for me.", [("vote", "You", ME, None)]),
    ("He voted for me.", [("vote", "He", ME, None)]),
    ("Agent-Alpha is odd. He voted for Agent-Bravo.", [("vote", A, B, None)]),
    ("I voted for Agent-Bravo because Agent-Alpha defended him.", [("vote", ME, B, None), ("defend", A, B, None)]),
    ("Agent-Bravo voted for himself.", [("vote", B, B, None)]),
    ("Agent-Alpha never voted for Agent-Bravo.", [("not vote", A, B, None)]),
    ("Agent-Alpha hasn't voted for Agent-Bravo.", [("not vote", A, B, None)]),
    ("agent-alpha didnt vote agent-bravo", [("not vote", A, B, None)]),
    ("Nobody defended Agent-Bravo.", [("defend", "Nobody", B, None)]),
    ("Someone accused Agent-Bravo.", [("accuse", "Someone", B, None)]),
    ("Agent-Bravo was voted out in round 2.", [("eliminated", None, B, 2)]),
    ("Agent-Bravo got eliminated.", [("eliminated", None, B, None)]),
    ("We voted Agent-Bravo out.", [("eliminated", "We", B, None)]),
    ("Losing Agent-Bravo hurts.", [("eliminated", None, B, None)]),
    ("Agent-Bravo isn't out.", [("not eliminated", None, B, None)]),
    ("Agent-Bravo was accused by Agent-Alpha.", [("accuse", A, B, None)]),
    ("Agent-Alpha said that Agent-Bravo is Mafia.", [("accuse", A, B, None)]),
    ("Agent-Alpha said Agent-Bravo is not Mafia.", [("defend", A, B, None)]),
    ("Agent-Alpha claimed to be the Seer.", [("claim_role", A, None, None)]),
    ("Agent-Alpha's Seer claim came late.", [("claim_role", A, None, None)]),
    ("Agent-Alpha mentioned tea earlier.", [("said", A, None, None)]),
    ("Something was off last round.", [("unclear", None, None, 2)]),
    (
        "In round 2, Agent-Alpha voted for Agent-Bravo and Agent-Charlie defended Agent-Delta.",
        [("vote", A, B, 2), ("defend", C, D, 2)],
    ),
    (
        "Agent-Alpha voted for Agent-Bravo in round 1 and Agent-Charlie accused Agent-Delta in round 2.",
        [("vote", A, B, 1), ("accuse", C, D, 2)],
    ),
    ("Agent-Alpha voted for Agent-Bravo, then accused Agent-Charlie.", [("vote", A, B, None), ("accuse", A, C, None)]),
    (
        "I know Agent-Alpha voted for Agent-Bravo, who voted for Agent-Delta.",
        [("vote", A, B, None), ("vote", B, D, None)],
    ),
    (
        "Agent-Alpha voted for Agent-Bravo in round 1 and for Agent-Delta in round 2.",
        [("vote", A, B, 1), ("vote", A, D, 2)],
    ),
)


@pytest.mark.parametrize(("text", "expected"), SHAPES, ids=[text for text, _ in SHAPES])
def test_references_are_parsed(text: str, expected: list[tuple[str, str | None, str | None, int | None]]) -> None:
    assert parsed(text) == expected


def test_you_is_who_is_replied_to_unless_somebody_is_addressed() -> None:
    assert parsed("You voted for Agent-Bravo.", reply_to="first") == [("vote", A, B, None)]
    assert parsed("Agent-Charlie, you voted for Agent-Bravo.", reply_to="first") == [("vote", C, B, None)]


def test_they_is_nobody_in_particular_when_two_were_named() -> None:
    (claim,) = claims_in("Agent-Alpha met Agent-Bravo. They voted for Agent-Charlie.")
    assert (claim.actor.kind, claim.actor.words) == ("unknown", "They")


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        (
            "Look: Agent-Alpha voted for Agent-Bravo in round 2, right there.",
            "Agent-Alpha voted for Agent-Bravo in round 2",
        ),
        ("Last round Agent-Alpha defended me. Odd.", "Last round Agent-Alpha defended me"),
        (
            "\u201cHm\u201d \u2014 Agent\u2011Alpha VOTED for Agent-Bravo\u2026",
            "Agent\u2011Alpha VOTED for Agent-Bravo",
        ),
        ("Agent-Echo: I voted for Agent-Bravo", "I voted for Agent-Bravo"),
    ],
)
def test_the_clause_is_shown_as_written(text: str, clause: str) -> None:
    (claim,) = claims_in(text)
    assert text[claim.start : claim.end] == clause


def test_roles_are_kept_with_their_side() -> None:
    (claim,) = claims_in("Agent-Bravo was the werewolf.")
    assert (claim.act, claim.role, claim.role_side) == (Act.ROLE_WAS, "werewolf", "mafia")


def test_claiming_a_role_now_is_no_reference() -> None:
    assert claims_in("I claim Seer.") == ()
    assert claims_in("I am claiming Seer now.") == ()


def test_a_round_written_in_one_word_or_as_a_word() -> None:
    for spelling in ("r2", "day 2", "round two", "the second round", "Day 2"):
        assert parsed(f"Agent-Alpha voted for Agent-Bravo in {spelling}.")[0][3] == 2, spelling
