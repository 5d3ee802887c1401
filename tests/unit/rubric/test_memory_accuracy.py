"""Memory accuracy: hand-written references, each with the finding that the record of one small game calls for."""

from collections.abc import Sequence
from cProfile import Profile
from datetime import UTC, datetime, timedelta

import pytest

from evaluation.rubric.metrics import memory_accuracy
from evaluation.score import LedgerRow, MetricResult, Status
from evaluation.transcript import Elimination, Transcript, Vote
from tests.games import Line, game_of

NAMES = ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie", "Agent-Delta", "Agent-Echo", "Agent-Foxtrot")
ROLES = {"Agent-Delta": ("Mafia", "mafia"), "Agent-Charlie": ("Mafia", "mafia")}

# Round 1: Alpha accuses Bravo, Charlie defends him, Bravo claims to be a villager. Foxtrot is voted out, a villager.
# Round 2: Alpha has a case against Charlie, Delta trusts Alpha. Delta is voted out, Mafia. Round 3 is being played.
EARLIER: tuple[tuple[int, str, str], ...] = (
    (1, "Agent-Alpha", "I think Agent-Bravo is suspicious because he dodged my question."),
    (1, "Agent-Charlie", "Agent-Bravo is innocent, so leave him alone."),
    (1, "Agent-Bravo", "I am a villager, and I have nothing to hide."),
    (1, "Agent-Foxtrot", "Good luck to all of you."),
    (1, "Agent-Echo", "Agent-Delta, what is your role?"),
    (2, "Agent-Alpha", "Agent-Charlie is lying about the evidence."),
    (2, "Agent-Delta", "I trust Agent-Alpha."),
    (2, "Agent-Bravo", "Agent-Delta seems quiet."),
)
VOTES: tuple[tuple[int, str, str | None], ...] = (
    (1, "Agent-Alpha", "Agent-Bravo"),
    (1, "Agent-Bravo", "Agent-Foxtrot"),
    (1, "Agent-Charlie", "Agent-Foxtrot"),
    (1, "Agent-Delta", "Agent-Foxtrot"),
    (1, "Agent-Echo", "Agent-Bravo"),
    (1, "Agent-Foxtrot", "Agent-Alpha"),
    (2, "Agent-Alpha", "Agent-Bravo"),
    (2, "Agent-Bravo", "Agent-Delta"),
    (2, "Agent-Charlie", "Agent-Delta"),
    (2, "Agent-Delta", "Agent-Bravo"),
    (2, "Agent-Echo", "Agent-Delta"),
)
ELIMINATIONS = ((1, "Agent-Foxtrot", "Villager"), (2, "Agent-Delta", "Mafia"))


def make_game(
    *texts: str,
    speaker: str = "Agent-Echo",
    in_round: int | None = 3,
    names: Sequence[str] = NAMES,
    votes: Sequence[tuple[int, str, str | None]] = VOTES,
    eliminations: Sequence[tuple[int, str, str]] = ELIMINATIONS,
    earlier: Sequence[tuple[int, str, str]] = EARLIER,
    reply_to: str | None = None,
    language: str | None = "en",
) -> Transcript:
    """The small game, with ``texts`` said by ``speaker`` in round ``in_round``."""
    said = [*earlier, *((in_round, speaker, text) for text in texts)]
    lines: list[Line] = [(who, text, {"round": number}) for number, who, text in said]
    if reply_to is not None:
        who, text, more = lines[-1]
        lines[-1] = (who, text, more | {"reply_to": reply_to})
    roles = {name: ROLES.get(name, ("Villager", "town")) for name in names}
    return game_of(
        lines,
        {name: {"role": role, "alignment": side} for name, (role, side) in roles.items()},
        language=language,
        votes=tuple(Vote(round=number, voter=voter, target=target) for number, voter, target in votes),
        eliminations=tuple(Elimination(round=number, player=who, role=role) for number, who, role in eliminations),
    )


def findings(result: MetricResult) -> list[str]:
    return [str(row.details["finding"]) for row in result.ledger]


def found_in(text: str, **changes: object) -> list[str]:
    """The findings on the references in ``text``, said last in the small game."""
    game = make_game(text, **changes)  # type: ignore[arg-type]
    last = game.messages[-1].id
    return [str(row.details["finding"]) for row in memory_accuracy.measure(game).ledger if row.message_id == last]


RIGHT, WRONG, OPEN = "accurate", "inaccurate", "unverified"

REFERENCES: tuple[tuple[str, list[str]], ...] = (
    # The rubric's own examples
    ("Agent-Alpha voted for Agent-Bravo in Round 2", [RIGHT]),
    ("Agent-Charlie defended Agent-Delta last round", [WRONG]),
    ("someone said that we should wait", [WRONG]),
    # Votes with a round
    ("Agent-Alpha voted for Agent-Charlie in round 1.", [WRONG]),
    ("agent-bravo voted for agent-delta last round", [RIGHT]),
    ("Agent-Bravo voted for Agent-Foxtrot two rounds ago.", [RIGHT]),
    ("Agent-Bravo voted for Agent-Foxtrot in r1.", [RIGHT]),
    ("Previously Agent-Alpha voted for Agent-Bravo.", [RIGHT]),
    ("Agent-Bravo was voted for by Agent-Alpha.", [RIGHT]),
    ("Agent-Bravo voted for himself.", [WRONG]),
    ("agent-alpha didnt vote agent-delta", [RIGHT]),
    ("I voted for Agent-Delta because Agent-Charlie defended Agent-Bravo.", [RIGHT, RIGHT]),
    ("I trust Agent-Alpha and Agent-Bravo. They voted for Agent-Delta.", [OPEN]),
    ("I claim Seer.", []),
    ("In round 9 Agent-Alpha voted for Agent-Bravo.", [WRONG]),
    ("Agent-Foxtrot voted for Agent-Alpha in round 2.", [WRONG]),
    # Votes without a round: any earlier one will do
    ("Agent-Alpha voted for Agent-Bravo", [RIGHT]),
    ("Agent-Alpha voted for Agent-Echo", [WRONG]),
    ("Agent-Bravo and Agent-Charlie voted for Agent-Delta.", [RIGHT]),
    ("Agent-Bravo and Agent-Alpha voted for Agent-Delta.", [WRONG]),
    ("Agent-Alpha cast his vote for Agent-Bravo last round.", [RIGHT]),
    ("Agent-Bravo's vote for Agent-Delta last round was odd.", [RIGHT]),
    ("Agent-Bravo's sudden vote for Agent-Echo was odd.", [WRONG]),
    ("Not everyone voted for Agent-Delta last round.", [RIGHT]),
    ("Nobody voted for Agent-Charlie.", [RIGHT]),
    ("Nobody voted for Agent-Bravo in round 1.", [WRONG]),
    ("Someone voted for Agent-Alpha in round 1.", [RIGHT]),
    ("Someone voted for Agent-Bravo in round 1.", [WRONG]),
    ("Agent-Foxtrot voted for Agent-Alpha in round 1, and nobody else did.", [RIGHT]),
    ("Agent-Bravo voted for Agent-Delta right beside Agent-Charlie.", [RIGHT]),
    ("Agent-Bravo voted for Agent-Delta alongside Agent-Alpha.", [WRONG]),
    ("Having said that, we should look at the votes.", []),
    ("Previously such motives decided every game I ever lost.", []),
    ("Agent-Bravo and Agent-Charlie voted for Agent-Foxtrot in round 1, and nobody else did.", [WRONG]),
    ("Have you, Agent-Bravo? In round 1 you voted for Agent-Foxtrot.", [RIGHT]),
    ("Agent-Foxtrot went out with three.", [RIGHT]),
    ("Agent-Foxtrot went out with four votes in round 1.", [WRONG]),
    ("Agent-Foxtrot got three votes in round 1.", [RIGHT]),
    ("Agent-Foxtrot got four votes.", [OPEN]),
    # Who told it can be looked up.
    ("Somebody told us of the evidence.", [OPEN]),
    ("Two of us voted for Agent-Bravo in round 1.", [RIGHT]),
    ("Four of us voted for Agent-Bravo in round 1.", [WRONG]),
    ("The village voted for Agent-Foxtrot.", [OPEN]),
    ("Only Agent-Alpha voted for Agent-Bravo in round 1.", [OPEN]),
    # Who is not a player and no group voted for nobody that the record knows
    ("Agent-Zulu voted for Agent-Delta last round.", [OPEN]),
    ("Agent 7 voted for Agent-Delta last round.", [OPEN]),
    ("Both of them voted for Agent-Delta last round.", [OPEN]),
    # Counts: round 1 saw 3 of 6 votes for Foxtrot, 2 for Bravo and 1 for Alpha; round 2 saw 3 of 5 for Delta
    ("Two people voted for Agent-Bravo in round 1.", [RIGHT]),
    ("Three people voted for Agent-Bravo in round 1.", [WRONG]),
    ("At least two people voted for Agent-Foxtrot.", [OPEN]),
    ("Most people voted for Agent-Delta last round.", [OPEN]),
    ("Agent-Delta got three votes last round.", [RIGHT]),
    ("Agent-Delta got the most votes last round.", [OPEN]),
    ("Agent-Delta got one vote from Agent-Bravo last round.", [OPEN]),
    ("Neither Agent-Bravo nor I voted for Agent-Delta last round.", [WRONG]),
    ("Neither Agent-Alpha nor Agent-Delta voted for Agent-Foxtrot last round.", [RIGHT]),
    ("I most certainly voted for Agent-Delta.", [RIGHT]),
    # Nobody who could be told
    ("Some said Agent-Charlie is bad earlier.", [OPEN]),
    ("It was said earlier that Agent-Charlie lied.", [OPEN]),
    ("Agent-Foxtrot was the only one who voted for Agent-Alpha.", [RIGHT]),
    ("Agent-Bravo and Agent-Charlie voted together last round.", [RIGHT]),
    ("Agent-Alpha voted with Agent-Charlie in round 2.", [WRONG]),
    # Votes in other words
    ("Agent-Alpha switched to Agent-Delta last round.", [WRONG]),
    ("Last round Agent-Bravo switched to Agent-Delta.", [RIGHT]),
    ("Agent-Alpha switched his vote from Agent-Bravo to Agent-Delta last round.", [OPEN]),
    ("Agent-Alpha chose Agent-Bravo in round 1.", [RIGHT]),
    ("Agent-Alpha picked Agent-Delta in round 1.", [WRONG]),
    ("My vote last round was for Agent-Delta.", [RIGHT]),
    ("Agent-Alpha's round 1 vote was for Agent-Delta.", [WRONG]),
    ("Agent-Charlie's vote went to Agent-Delta last round.", [RIGHT]),
    ("Agent-Charlie voted for the same person as Agent-Delta in round 1.", [RIGHT]),
    ("Agent-Charlie voted for the same person as Agent-Delta in round 2.", [WRONG]),
    ("Agent-Delta abstained last round.", [OPEN]),
    # First and second person
    ("I voted for Agent-Delta last round.", [RIGHT]),
    ("@Agent-Alpha you voted for Agent-Delta last round.", [WRONG]),
    ("You voted for Agent-Bravo last round.", [OPEN]),
    # Negations
    ("Agent-Alpha did not vote for Agent-Bravo in round 2.", [WRONG]),
    ("Agent-Alpha didn't vote for Agent-Delta in round 2.", [RIGHT]),
    ("Agent-Bravo never voted for Agent-Foxtrot.", [WRONG]),
    ("I didn't vote for Agent-Charlie, I voted for Agent-Delta.", [RIGHT, RIGHT]),
    ("Agent-Alpha didn't vote in round 2.", [WRONG]),
    # Players out of the game
    ("Agent-Delta got eliminated in round 2.", [RIGHT]),
    ("Agent-Delta got eliminated in round 1.", [WRONG]),
    ("Agent-Bravo was voted out last round.", [WRONG]),
    ("We voted out Agent-Foxtrot in round 1.", [RIGHT]),
    ("Agent-Foxtrot is out, so ignore him.", [RIGHT]),
    ("Agent-Foxtrot isn't out.", [WRONG]),
    ("Agent-Delta was Mafia.", [RIGHT]),
    ("Agent-Foxtrot was Mafia.", [WRONG]),
    ("Agent-Foxtrot turned out to be a villager.", [RIGHT]),
    # Accusations and defences
    ("Agent-Alpha accused Agent-Bravo in round 1.", [RIGHT]),
    ("Agent-Charlie defended Agent-Bravo.", [RIGHT]),
    ("Agent-Alpha defended Agent-Bravo.", [WRONG]),
    ("I never accused Agent-Alpha.", [RIGHT]),
    ("Agent-Bravo was accused by Agent-Alpha in round 1.", [RIGHT]),
    ("Agent-Alpha said Agent-Charlie is lying.", [RIGHT]),
    ("Agent-Foxtrot said Agent-Charlie is Mafia.", [WRONG]),
    ("I accused Agent-Delta in round 1.", [OPEN]),
    ("Agent-Alpha attacked Agent-Bravo in round 1.", [RIGHT]),
    ("Agent-Delta attacked Agent-Bravo in round 1.", [WRONG]),
    # All of it must hold
    ("Agent-Bravo and Agent-Charlie claimed to be villagers.", [OPEN]),
    ("Agent-Alpha voted for Agent-Bravo in every round.", [OPEN]),
    ("Agent-Alpha accused Agent-Bravo twice.", [OPEN]),
    ("Agent-Alpha accused Agent-Bravo and Agent-Charlie.", [RIGHT]),
    ("Agent-Alpha accused Agent-Bravo and Agent-Foxtrot.", [WRONG]),
    ("Everyone accused Agent-Bravo.", [OPEN]),
    ("All of you voted for Agent-Delta last round.", [WRONG]),
    ("Agent-Bravo, Agent-Charlie, both of you voted for Agent-Delta last round.", [RIGHT]),
    ("Agent-Bravo and Agent-Alpha are odd. Both voted for Agent-Delta last round.", [WRONG]),
    ("Agent-Bravo and Agent-Charlie are odd. They both voted for Agent-Delta last round.", [RIGHT]),
    ("Everyone voted last round.", [OPEN]),
    ("Agent-Bravo never claimed to be a villager.", [WRONG]),
    # Claimed roles, in other words
    ("That quick villager claim worries me.", [RIGHT]),
    ("Agent-Bravo's instant villager claim worries me.", [RIGHT]),
    ("Agent-Bravo said earlier that he is a villager.", [RIGHT]),
    ("Agent-Bravo admitted to being the Mafia.", [OPEN]),
    ("Agent-Bravo, you mentioned that you are a villager.", [RIGHT]),
    ("Agent-Bravo, thanks. I am not sure about your claim of being a villager.", [RIGHT]),
    ("I understand that your claim of being a villager is odd, Agent-Bravo.", [RIGHT]),
    ("I retract my villager claim.", []),
    ("Agent-Alpha asked why we wait.", [OPEN]),
    ("Two Seer claims are too many.", [OPEN]),
    # What somebody else is said to think now, and what was asked
    ("Agent-Alpha suspects Agent-Bravo.", [RIGHT]),
    ("Agent-Foxtrot accuses Agent-Bravo.", [WRONG]),
    ("I accuse Agent-Bravo.", []),
    ("I questioned Agent-Delta earlier.", [RIGHT]),
    ("Agent-Alpha questioned Agent-Delta.", [OPEN]),
    # Losses
    ("It is hard to lose Agent-Bravo.", []),
    # Astonishment takes for granted what it says
    ("Agent-Alpha voted for Agent-Bravo in round 1?!", [RIGHT]),
    ("Some have not said one word so far.", [WRONG]),
    ("Some have not said one word in round 2.", [RIGHT]),
    # What was said
    ("Agent-Bravo claimed to be a villager.", [RIGHT]),
    ("Agent-Alpha mentioned earlier that he likes tea.", [OPEN]),
    ("As I said earlier, we need a plan.", [OPEN]),
    ("The discussion was heated in round 2.", [OPEN]),
    ("Agent-Foxtrot said nothing last round.", [RIGHT]),
    ("In round 1 Agent-Foxtrot said nothing.", [WRONG]),
    ("Agent-Foxtrot has said nothing while three of us have.", [OPEN]),
    ("Agent-Bravo, I do not believe your villager claim.", [OPEN]),
    ("Agent-Delta did not mention Agent-Bravo once yesterday.", [OPEN]),
    # A rubric pattern on something else about the past
    ("Somebody switched votes last round.", [WRONG]),
    # Several in one message
    ("Agent-Alpha voted for Agent-Bravo in round 1 and Agent-Charlie defended Agent-Bravo in round 1.", [RIGHT, RIGHT]),
    ("Agent-Alpha voted for Agent-Bravo in round 2, then accused Agent-Echo.", [RIGHT, WRONG]),
    ("Agent-Bravo voted for Agent-Foxtrot in round 1 but for Agent-Alpha in round 2.", [RIGHT, WRONG]),
    ("I earlier voted for Agent-Bravo, then for Agent-Delta.", [OPEN, OPEN]),
    ("I trust Agent-Bravo, who voted for Agent-Delta last round.", [RIGHT]),
    ("Agent-Bravo, you voted for Agent-Delta last round, so why should we trust you?", [RIGHT]),
    ('Agent-Alpha said "I voted for Agent-Charlie in round 1".', [OPEN]),
    ("Agent-Echo: voted for Agent-Delta last round.", [RIGHT]),
    ("Agent-Foxtrot was voted out. Yes, Agent-Foxtrot was voted out!", [RIGHT]),
)


@pytest.mark.parametrize(("text", "expected"), REFERENCES, ids=[text for text, _ in REFERENCES])
def test_references_are_checked_against_the_record(text: str, expected: list[str]) -> None:
    assert found_in(text) == expected


NO_REFERENCES = (
    "Who voted for Agent-Bravo?|Did Agent-Alpha vote for Agent-Bravo last round?|Agent-Alpha voted for Agent-Bravo?|"
    "Agent-Alpha, why did you vote for Agent-Bravo last round|If Agent-Alpha voted for Agent-Charlie, he is Mafia.|"
    "Had Agent-Alpha voted for Agent-Charlie, we would know.|I want to know who voted for Agent-Charlie.|"
    "In round 4 I will vote for Agent-Bravo.|Agent-Alpha might have voted for Agent-Charlie.|"
    "Maybe Agent-Alpha voted for Agent-Charlie.|I doubt Agent-Alpha voted for Agent-Charlie.|"
    "Agent-Bravo says that I voted for Agent-Charlie.|Let's not repeat last round.|We need to act earlier.|"
    "Whoever voted for Agent-Charlie last round is Mafia.|Everyone who voted for Agent-Charlie is Mafia.|"
    "Agent-Charlie has 2 votes.|In round 4 I will switch to Agent-Bravo.|"
    "Had Agent-Alpha switched to Agent-Charlie last round, we would have won.|Maybe we were wrong last round.|"
    "Everyone who voted for Agent-Charlie last round is Mafia.|Agent-Charlie keeps blaming me."
)


@pytest.mark.parametrize("text", NO_REFERENCES.split("|"))
def test_questions_conditions_plans_and_guesses_are_no_references(text: str) -> None:
    assert found_in(text) == []


def test_you_is_the_player_replied_to_unless_the_sentence_names_one() -> None:
    assert found_in("You voted for Agent-Bravo last round.", reply_to="m5") == [RIGHT]
    assert found_in("You voted for Agent-Bravo last round.", reply_to="m7") == [WRONG]
    assert found_in("Agent-Alpha, you voted for Agent-Bravo last round.", reply_to="m7") == [RIGHT]


def test_a_row_tells_claim_place_reason_and_vote() -> None:
    text = "Hear me out: Agent-Alpha voted for Agent-Bravo in round 2, so there."
    (row,) = memory_accuracy.measure(make_game(text)).ledger
    start = text.index("Agent-Alpha")
    end = text.index(", so there")
    assert row.id == f"memory_accuracy:m8:{start}-{end}"
    assert row.kind == "claim"
    assert [(e.start, e.end, e.text) for e in row.evidence] == [(start, end, text[start:end])]
    assert row.refers_to == "vote:2::Agent-Alpha"
    assert row.reason == "The record shows Agent-Alpha voting for Agent-Bravo in round 2."
    about = {"actor": "Agent-Alpha", "act": "vote", "target": "Agent-Bravo", "round": 2}
    assert row.details == about | {"finding": "accurate", "kind": "vote"}


def test_an_accusation_rests_on_the_message_that_makes_it() -> None:
    (row,) = memory_accuracy.measure(make_game("Agent-Alpha accused Agent-Charlie last round.")).ledger
    assert row.refers_to == "m5"
    assert row.player == "Agent-Echo"


def test_score_counts_settled_references_and_notes_the_rest() -> None:
    texts = (
        "Agent-Alpha voted for Agent-Bravo in round 2.",
        "Agent-Alpha voted for Agent-Charlie in round 2.",
        "Agent-Bravo voted for Agent-Delta last round.",
        "Agent-Bravo mentioned that earlier.",
    )
    result = memory_accuracy.measure(make_game(*texts))
    # 2 of 3 settled references are true: 100 x 2 / 3.
    assert result.score == pytest.approx(200 / 3)
    assert (result.numerator, result.denominator) == (2, 3)
    assert result.status is Status.FAILED
    assert result.notes == ("2/3 accurate, 1 unverified",)
    assert result.details == {
        "accurate": 2,
        "inaccurate": 1,
        "unverified": 1,
        "settled": 3,
        "considered": 4,
        "coverage": 0.75,
        "settled_by_votes": 3,
        "settled_by_kind": {"vote": 3, "earlier statement": 0},
    }
    assert result.coverage.words == "3 of 4 references to the past settled, low evidence"


def test_five_settled_references_that_are_half_of_all_are_evidence_enough() -> None:
    voters = ("Alpha", "Echo", "Delta", "Charlie", "Bravo")
    votes = [f"Agent-{name} voted for Agent-Bravo in round 1." for name in voters]
    said = [f"Agent-Bravo mentioned that earlier, and it was point {place}." for place in range(6)]
    enough = memory_accuracy.measure(make_game(*votes, *said[:5]))
    assert enough.coverage.words == "5 of 10 references to the past settled"
    too_few = memory_accuracy.measure(make_game(*votes, *said))
    assert too_few.coverage.words == "5 of 11 references to the past settled, low evidence"
    assert too_few.remarks[-1] == too_few.coverage.words


def test_no_references_are_full_marks_and_say_so() -> None:
    result = memory_accuracy.measure(make_game("Agent-Charlie is suspicious."))
    assert (result.score, result.status, result.notes) == (100.0, Status.PASSED, ("no references",))


def test_only_unverified_references_are_not_applicable() -> None:
    result = memory_accuracy.measure(make_game("As I said earlier, we need a plan."))
    assert (result.score, result.status) == (None, Status.NOT_APPLICABLE)


ROUND_2 = "Agent-Alpha voted for Agent-Bravo in round 2."
WITHOUT_ALPHA = [vote for vote in VOTES if vote[:2] != (2, "Agent-Alpha")]
CHANGED = [*VOTES, (2, "Agent-Alpha", "Agent-Charlie")]
CLAIMED = [*EARLIER[:-1], (1, "Agent-Alpha", "I am the Seer.")]
DIVINED = [*EARLIER, (2, "Agent-Alpha", "I divined Agent-Charlie as a werewolf last night.")]
BOTH_CLAIMED = "Agent-Alpha and Agent-Bravo claimed to be the Seer."
RECORDS: tuple[tuple[str, dict[str, object], str], ...] = (
    # Votes that nobody recorded leave a claim open.
    (ROUND_2, {"votes": ()}, OPEN),
    (ROUND_2, {"votes": VOTES[:6]}, OPEN),
    (ROUND_2, {"votes": WITHOUT_ALPHA}, OPEN),
    # A later vote replaces the earlier, and an abstention is no vote.
    (ROUND_2, {"votes": CHANGED}, WRONG),
    ("Agent-Alpha voted for Agent-Charlie in round 2.", {"votes": CHANGED}, RIGHT),
    ("Agent-Alpha didn't vote in round 2.", {"votes": [*WITHOUT_ALPHA, (2, "Agent-Alpha", None)]}, RIGHT),
    # Votes alone may confirm that somebody was voted out, never contradict it. Foxtrot got 3 of 6 in round 1 and is
    # silent since; Delta got 3 of 5 in round 2.
    ("Agent-Foxtrot was voted out in round 1.", {"eliminations": ()}, RIGHT),
    ("Agent-Foxtrot was voted out in round 2.", {"eliminations": ()}, OPEN),
    ("Agent-Foxtrot was not voted out.", {"eliminations": ()}, OPEN),
    ("Agent-Bravo was voted out.", {"eliminations": ()}, OPEN),
    ("Agent-Foxtrot and Agent-Bravo were voted out.", {"eliminations": ()}, OPEN),
    # Two claims need two who claimed.
    (BOTH_CLAIMED, {"earlier": CLAIMED}, WRONG),
    (BOTH_CLAIMED, {"earlier": [*CLAIMED, (1, "Agent-Bravo", "I am the Seer.")]}, RIGHT),
    # A told divination claims a role that sees, and can be referred to.
    ("Agent-Alpha claimed to be the Seer.", {"earlier": DIVINED}, RIGHT),
    ("Agent-Alpha's divination of Agent-Charlie is odd.", {"earlier": DIVINED}, RIGHT),
    ("Agent-Bravo's divination of Agent-Charlie is odd.", {"earlier": DIVINED}, OPEN),
    ("That Seer claim surprises me.", {"earlier": DIVINED}, RIGHT),
    # Said in round 1, before any vote: no vote had been taken, and round 2 had not been played.
    (ROUND_2, {"in_round": 1, "earlier": EARLIER[:5]}, WRONG),
    ("Agent-Alpha voted for Agent-Bravo last round.", {"in_round": 1, "earlier": EARLIER[:5]}, WRONG),
    # Without rounds every earlier event counts.
    ("Agent-Alpha voted for Agent-Bravo last round.", {"in_round": None}, OPEN),
    ("Agent-Alpha voted for Agent-Bravo.", {"in_round": None}, RIGHT),
)


@pytest.mark.parametrize(("text", "changes", "finding"), RECORDS)
def test_what_the_record_holds_decides(text: str, changes: dict[str, object], finding: str) -> None:
    assert found_in(text, **changes) == [finding]


def test_whoever_is_derived_as_voted_out_has_the_votes_as_a_reason() -> None:
    (row,) = memory_accuracy.measure(make_game("Agent-Foxtrot was voted out.", eliminations=())).ledger
    assert row.details["finding"] == RIGHT
    assert "derived from 3 of 6 votes" in row.reason


@pytest.mark.parametrize(
    "changes",
    [
        {"votes": VOTES[:2]},  # two of six living players voted
        {"votes": (*VOTES[:6], (2, "Agent-Foxtrot", "Agent-Bravo"))},  # still votes in round 2
        {"earlier": (*EARLIER, (2, "Agent-Foxtrot", "I am still here."))},
        {"votes": (*VOTES[:4], (1, "Agent-Echo", "Agent-Bravo"), (1, "Agent-Foxtrot", "Agent-Bravo"))},  # 3 to 3
        {"in_round": 1, "speaker": "Agent-Echo"},  # whether the vote lies before the message is open
    ],
    ids=["low turnout", "votes later", "speaks later", "tie", "same round"],
)
def test_nobody_is_derived_as_voted_out_where_the_votes_do_not_show_it(changes: dict[str, object]) -> None:
    game = make_game("Agent-Foxtrot was voted out.", eliminations=(), **changes)  # type: ignore[arg-type]
    assert findings(memory_accuracy.measure(game))[-1:] == [OPEN]


def test_a_player_called_alive_was_not_voted_out_and_night_votes_vote_nobody_out() -> None:
    game = make_game("Agent-Foxtrot was voted out.", eliminations=())
    alive = tuple(player.model_copy(update={"is_alive": True}) for player in game.players)
    assert findings(memory_accuracy.measure(game.model_copy(update={"players": alive}))) == [OPEN]
    by_night = tuple(vote.model_copy(update={"phase": "night"}) for vote in game.votes)
    assert findings(memory_accuracy.measure(game.model_copy(update={"votes": by_night}))) == [OPEN]


@pytest.mark.parametrize(
    ("text", "is_alive", "expected"),
    [
        ("Echo was a villager.", False, [RIGHT]),
        ("Echo was not Mafia.", False, [RIGHT]),
        # What the others learnt is not recorded, so that a role that was another stays open.
        ("Echo was Mafia.", False, []),
        ("Echo was a villager.", None, []),
        ("Now Echo is dead.", False, [RIGHT]),
        ("Now Echo is dead.", None, [OPEN]),
        ("Echo is not dead.", False, [OPEN]),
        ("Echo was killed in round 1.", False, [OPEN]),
    ],
)
def test_who_is_gone_and_as_what_is_settled_where_it_is_true(
    text: str, is_alive: bool | None, expected: list[str]
) -> None:
    players = {"Ann": {}, "Echo": {"role": "VILLAGER", "alignment": "town", "is_alive": is_alive}}
    game = game_of([("Echo", "Cheers.", {"round": 1}), ("Ann", text, {"round": 2})], players)
    assert findings(memory_accuracy.measure(game)) == expected


def test_a_revealed_role_is_read_as_the_game_reveals_it() -> None:
    human, wolf, evil = (f"Agent-Delta was {what}." for what in ("human", "a werewolf", "evil"))
    game = make_game(human, wolf, eliminations=[(2, "Agent-Delta", "HUMAN")])
    assert findings(memory_accuracy.measure(game)) == [RIGHT, WRONG]
    by_name = make_game(human, evil, eliminations=[(2, "Agent-Delta", "Possessed")])
    assert findings(memory_accuracy.measure(by_name)) == [WRONG, RIGHT]
    medium = by_name.model_copy(update={"source_format": "aiwolf"})
    assert findings(memory_accuracy.measure(medium)) == [RIGHT, WRONG]


def test_a_vote_of_the_current_round_counts_when_it_was_cast_before() -> None:
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    claim = make_game("Agent-Alpha voted for Agent-Echo.", in_round=3)

    def with_vote(minutes: int | None) -> LedgerRow:
        sent_at = None if minutes is None else noon + timedelta(minutes=minutes)
        vote = Vote(round=3, voter="Agent-Alpha", target="Agent-Echo", sent_at=sent_at)
        last = claim.messages[-1].model_copy(update={"sent_at": noon})
        fields = {"messages": (*claim.messages[:-1], last), "votes": (*claim.votes, vote)}
        game = Transcript.model_validate(claim.model_dump() | fields)
        return memory_accuracy.measure(game).ledger[0]

    assert with_vote(-1).details["finding"] == RIGHT
    assert with_vote(+1).details["finding"] == WRONG
    untimed = with_vote(None)
    assert untimed.details["finding"] == RIGHT
    assert "it carries no time" in untimed.reason


def test_a_vote_announced_in_this_round_can_be_referred_to() -> None:
    earlier = [*EARLIER, (3, "Agent-Alpha", "I vote for Agent-Charlie.")]
    game = make_game("Agent-Alpha's vote for Agent-Charlie is rushed.", earlier=earlier)
    (row,) = memory_accuracy.measure(game).ledger
    assert (row.details["finding"], row.refers_to) == (RIGHT, "m8")


@pytest.mark.parametrize(
    "clause", ["Agent-Alpha voted for Agent-Bravo last round, ", 'Agent-Alpha said "no" and voted for Agent-Bravo. ']
)
def test_many_claims_in_one_message_take_linear_work(clause: str) -> None:
    def calls(repeats: int) -> int:
        game = make_game(clause * repeats, language="en")
        profile = Profile()
        profile.runcall(memory_accuracy.measure, game)
        return sum(entry.callcount for entry in profile.getstats())

    calls(10)
    # Four times the claims take four times the calls, sixteen times when every claim looks at all others.
    assert calls(800) < 6 * calls(200)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Agent-Alpha and Agent-Bravo voted together.", "no round in which Agent-Alpha and Agent-Bravo both voted."),
        ("Agent-Bravo voted earlier.", "The record holds no vote by Agent-Bravo."),
    ],
)
def test_a_reason_does_not_deny_the_votes_of_other_players(text: str, reason: str) -> None:
    votes = [(1, name, "Agent-Delta") for name in NAMES if name != "Agent-Bravo"]
    result = memory_accuracy.measure(make_game(text, votes=votes))
    assert [row.reason for row in result.ledger if row.reason.endswith(reason)], [row.reason for row in result.ledger]
