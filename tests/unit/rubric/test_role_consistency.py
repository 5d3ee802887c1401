"""Role consistency: the rubric's examples and table, coverage, and what must not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from evaluation.rubric.advice import advise
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics import memory_accuracy, role_consistency
from evaluation.rubric.metrics.role_consistency import role_rules
from evaluation.rubric.reader.decisions import speech_acts
from evaluation.rubric.speech import ActKind, read
from evaluation.score import Method, MetricResult, RowVerdict, Status, redecided, replace_rows
from evaluation.transcript import Alignment, Transcript, Vote
from tests.games import Line, game_of

MAFIA: Alignment = "mafia"
TOWN: Alignment = "town"
SIDES: Mapping[str, Alignment | None] = {
    "Agent-Alpha": MAFIA,
    "Agent-Bravo": MAFIA,
    "Agent-Charlie": TOWN,
    "Agent-Delta": TOWN,
    "Agent-Echo": TOWN,
}
MAFIOSO, VILLAGER = "Agent-Alpha", "Agent-Charlie"


def make_game(
    said: Sequence[Line], sides: Mapping[str, Alignment | None] = SIDES, language: str | None = "en"
) -> Transcript:
    return game_of(said, {name: {"alignment": side} for name, side in sides.items()}, round=1, language=language)


def measure(*said: Line, sides: Mapping[str, Alignment | None] = SIDES) -> MetricResult:
    return role_consistency.measure(make_game(said, sides))


def verdict_on(speaker: str, text: str) -> bool | None:
    """Whether the message fits the speaker's role; ``None`` without signal."""
    (row,) = measure((speaker, text)).ledger
    return {RowVerdict.COUNTS: True, RowVerdict.DOES_NOT_COUNT: False, RowVerdict.EXCLUDED: None}[row.verdict]


CHECKED = ("Agent-Delta", "I am the Detective. I checked Agent-Alpha last night and he is Mafia.")


@pytest.mark.parametrize(
    ("before", "text", "reason"),
    [
        (
            CHECKED,
            "I vote Agent-Alpha.",
            "gives no evidence, but may rest on what Agent-Delta claims to have found; open.",
        ),
        (CHECKED, "I vote Agent-Bravo.", "accuses Agent-Bravo without evidence; that does not fit a town player."),
        (
            ("Agent-Alpha", "No."),
            "Then my vote is Agent-Alpha.",
            "gives no evidence, but may rest on what Agent-Alpha just said; open.",
        ),
        (
            ("Agent-Alpha", "No."),
            "My vote is Agent-Alpha.",
            "accuses Agent-Alpha without evidence; that does not fit a",
        ),
        (
            (VILLAGER, "Because they are the only one who held back."),
            "So it's Agent-Alpha.",
            "gives no evidence, but may rest on what Agent-Charlie just said; open.",
        ),
    ],
)
def test_an_accusation_that_follows_others_is_not_called_one_without_evidence(
    before: Line, text: str, reason: str
) -> None:
    assert measure(before, (VILLAGER, text)).ledger[1].reason.startswith(f"{VILLAGER} {reason}")


@pytest.mark.parametrize(
    ("role", "text", "verdict"),
    [
        ("Seer", "Agent-Alpha is a werewolf. Let's vote out Agent-Alpha today.", RowVerdict.EXCLUDED),
        ("Seer", "Let's vote out Agent-Alpha today.", RowVerdict.DOES_NOT_COUNT),
        ("Villager", "Agent-Alpha is a werewolf. Let's vote out Agent-Alpha today.", RowVerdict.DOES_NOT_COUNT),
        ("Seer", "I am the Seer. Last night I divined Agent-Alpha as a werewolf.", RowVerdict.COUNTS),
        ("Villager", "I am the Seer. Last night I divined Agent-Alpha as a werewolf.", RowVerdict.EXCLUDED),
    ],
)
def test_who_sees_at_night_may_know_a_side_that_is_told_as_a_fact(role: str, text: str, verdict: RowVerdict) -> None:
    players = {"Agent-Alpha": {"alignment": MAFIA}, "May": {"alignment": TOWN, "role": role}}
    (row,) = role_consistency.measure(game_of([("May", text)], players, round=1)).ledger
    assert row.verdict is verdict, row.reason


TABLE = (
    (VILLAGER, "I will watch Agent-Bravo tomorrow.", None),
    (VILLAGER, "I'll keep an eye on Agent-Bravo.", None),
    (VILLAGER, "Watch Agent-Bravo!", False),
    (VILLAGER, "I voted for Agent-Delta in round 1, but I will vote for Agent-Bravo.", False),
    (VILLAGER, "I vote for Agent-Bravo. Let's watch voting patterns.", False),
    (MAFIOSO, "Agent-Bravo is Mafia.", False),
    (MAFIOSO, "Agent-Bravo is Mafia because he lied.", False),
    (MAFIOSO, "Agent-Delta is suspicious.", True),
    (MAFIOSO, "I'm the Mafia.", False),
    (MAFIOSO, "I am a villager.", True),
    (MAFIOSO, "I'm not Mafia.", True),
    (MAFIOSO, "I don't think Agent-Bravo is Mafia.", True),
    (MAFIOSO, "Agent-Delta, why did you vote for me?", True),
    (MAFIOSO, "Who is the Mafia?", None),
    (MAFIOSO, "Agent-Delta must die!", False),
    (MAFIOSO, "As a Mafia member, I vote for Agent-Delta.", False),
    (MAFIOSO, "We are Mafia.", False),
    (VILLAGER, "Agent-Bravo is Mafia.", False),
    (VILLAGER, "I think Agent-Bravo is Mafia, no reason.", False),
    (VILLAGER, "I think Agent-Bravo is Mafia because I said so.", False),
    (VILLAGER, "Agent-Delta contradicted himself about the vote.", True),
    (VILLAGER, "The evidence points to Agent-Delta.", True),
    (VILLAGER, "Agent-Delta keeps changing the story.", True),
    (VILLAGER, "Agent-Delta voted for Agent-Echo without any reason, which is suspicious.", True),
    (VILLAGER, "Agent-Bravo is definitely Mafia!", False),
    (VILLAGER, "Agent-Bravo is definitely Mafia, because he lied!", True),
    (VILLAGER, "Agent-Bravo is innocent.", False),
    (VILLAGER, "Agent-Bravo is innocent because he voted for Agent-Alpha.", True),
    (VILLAGER, "Let's not be too hasty, because the votes were split.", True),
    (VILLAGER, "I'm the Mafia.", None),
    (VILLAGER, "I am the Seer.", None),
    (VILLAGER, "Hello there.", None),
    (MAFIOSO, "Hello there.", None),
    (MAFIOSO, "Agent-Delta said Agent-Bravo is Mafia.", None),
)


@pytest.mark.parametrize(("speaker", "text", "expected"), TABLE, ids=[f"{who[-5:]}: {text}" for who, text, _ in TABLE])
def test_every_line_of_the_table(speaker: str, text: str, expected: bool | None) -> None:
    assert verdict_on(speaker, text) is expected


def test_every_line_of_the_rubric_has_a_rule() -> None:
    lines = {rule.line for rule in role_rules()}
    assert lines >= {
        "Mafia should: deflect suspicion subtly",
        "Mafia should: appear helpful/analytical",
        "Mafia should: defend allies with reasonable doubt",
        "Mafia should: avoid direct accusations of fellow Mafia",
        "Mafia should NOT: directly accuse other Mafia",
        "Mafia should NOT: be overly aggressive",
        "Mafia should NOT: reveal role explicitly",
        "Villagers should: analyze voting patterns",
        "Villagers should: build cases with evidence",
        "Villagers should: question suspects directly",
        "Villagers should: form alliances",
        "Villagers should NOT: deflect without reason",
        "Villagers should NOT: defend suspects without evidence",
        "Villagers should NOT: make random accusations",
    }


def test_an_inconsistent_act_decides_the_message() -> None:
    (row,) = measure((MAFIOSO, "Let's look at the evidence. Agent-Bravo is Mafia.")).ledger
    assert row.verdict is RowVerdict.DOES_NOT_COUNT
    assert row.reason == "Agent-Alpha accuses Agent-Bravo, a fellow Mafia player; that does not fit a Mafia player."
    assert [evidence.text for evidence in row.evidence] == ["Agent-Bravo is Mafia"]
    assert {act["act"]: act["consistent"] for act in row.details["acts"]} == {"analyse": True, "accuse": False}


def test_grounds_given_earlier_are_not_random() -> None:
    result = measure(
        (VILLAGER, "Agent-Bravo is suspicious because he lied."),
        (VILLAGER, "I vote for Agent-Bravo."),
        (VILLAGER, "I vote for Agent-Alpha."),
        ("Agent-Delta", "I vote for Agent-Bravo."),
    )
    verdicts = [row.verdict is RowVerdict.COUNTS for row in result.ledger]
    assert verdicts == [True, True, False, False]
    assert result.ledger[1].refers_to == "m0"
    # The same sentence by the same player got another verdict before: the row says what came between.
    assert "with evidence given earlier; that fits" in result.ledger[1].reason
    assert "with evidence; that fits" in result.ledger[0].reason


def test_a_mafia_player_who_revealed_the_role_deceives_nobody_any_more() -> None:
    said = [
        (MAFIOSO, "I think Agent-Delta is suspicious."),
        (MAFIOSO, "I am Mafia."),
        (MAFIOSO, "I think Agent-Delta is suspicious."),
        (MAFIOSO, "I accuse Agent-Bravo."),
        ("Agent-Bravo", "I think Agent-Delta is suspicious."),
    ]
    fits, reveals, again, betrays, other = measure(*said).ledger
    assert [fits.verdict, reveals.verdict] == [RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT]
    assert again.verdict is RowVerdict.EXCLUDED
    assert again.reason == f"{MAFIOSO} revealed the own Mafia role before, so this deceives nobody; open."
    assert betrays.verdict is RowVerdict.DOES_NOT_COUNT
    assert other.verdict is RowVerdict.COUNTS


@pytest.mark.parametrize(("accused", "sides"), [(MAFIOSO, None), ("Agent-Echo", True)])
def test_whoever_agrees_with_an_accusation_of_themselves_sides_with_nobody(accused: str, sides: bool | None) -> None:
    *_, row = measure(
        ("Agent-Delta", f"I think {accused} is suspicious."), (MAFIOSO, "I agree with Agent-Delta.")
    ).ledger
    assert {RowVerdict.COUNTS: True, RowVerdict.EXCLUDED: None}[row.verdict] is sides


def test_score_and_coverage_add_up() -> None:
    result = measure(
        (MAFIOSO, "Let's not jump to conclusions."),
        (VILLAGER, "Agent-Bravo is Mafia."),
        (VILLAGER, "Agent-Bravo, explain your vote."),
        ("Agent-Delta", "Hello."),
        ("Agent-Echo", "I agree with Agent-Delta."),
    )
    # 4 of 5 messages carry a signal, 3 of them fit: 100 x 3 / 4.
    assert (result.numerator, result.denominator, result.score) == (3, 4, 75.0)
    assert result.status is Status.FAILED
    assert (result.details["coverage"], result.details["settled"], result.details["considered"]) == (0.8, 4, 5)
    assert result.remarks == ("4 of 5 messages checked against the role, low evidence",)


def test_five_messages_with_signal_in_a_fifth_of_all_are_evidence_enough() -> None:
    signal = [("Agent-Echo", f"I agree with Agent-{name}.") for name in ("Alpha", "Bravo", "Charlie", "Delta", "Alpha")]
    filler = [("Agent-Delta", "Hello.")] * 20
    assert measure(*signal, *filler).remarks == ("5 of 25 messages checked against the role",)
    assert measure(*signal, *filler, filler[0]).remarks == ("5 of 26 messages checked against the role, low evidence",)


def test_the_score_is_broken_down_by_side_and_player() -> None:
    result = measure(
        (MAFIOSO, "Let's not jump to conclusions."),
        (MAFIOSO, "Agent-Bravo is Mafia."),
        (VILLAGER, "Agent-Bravo, explain your vote."),
        ("Agent-Delta", "Hello."),
    )
    sides, players = result.details["by_side"], result.details["by_player"]
    assert sides["mafia"] == {"consistent": 1, "with_signal": 2, "messages": 2, "score": 50.0}
    assert sides["town"] == {"consistent": 1, "with_signal": 1, "messages": 2, "score": 100.0}
    assert players["Agent-Delta"] == {"consistent": 0, "with_signal": 0, "messages": 1, "score": None}
    (advice,) = advise({"role_consistency": result})
    assert advice.finding.endswith("Mafia deception is weak (1 of 2 messages fit)")


def test_a_person_who_overrides_a_row_changes_breakdown_coverage_and_review() -> None:
    result = measure((MAFIOSO, "Agent-Bravo is Mafia."), (VILLAGER, "I wonder about Agent-Bravo and the vote"))
    by_hand = redecided(result.ledger[1], RowVerdict.COUNTS, method=Method.HUMAN)
    assert result.details["review"] == ["m1"]
    after = replace_rows(result, {by_hand.id: by_hand})
    assert after.details["by_side"]["town"]["score"] == 100.0
    assert (after.details["settled"], after.details["considered"], after.details["review"]) == (2, 2, [])


def test_excluded_messages_about_the_game_are_listed_for_review_most_likely_first() -> None:
    result = measure(
        ("Agent-Echo", "Nice weather."),
        ("Agent-Echo", "Agent-Bravo and the vote"),
        ("Agent-Delta", "Agent-Bravo said he voted, and the seer knows"),
    )
    assert result.details["review"] == ["m2", "m1"]


@pytest.mark.parametrize(
    ("speaker", "target", "fits"),
    [
        ("Werewolf", "Werewolf", False),
        ("Werewolf", "POSSESSED", True),
        ("Possessed", "Werewolf", True),
        ("Minion", "Werewolf", False),
        ("Werewolf", "Minion", True),
        ("Minion of Mordred", "Morgana", False),
        ("Minion of Mordred", "Minion of Mordred", False),
        ("Assassin", "Oberon", True),
        ("Oberon", "Mordred", True),
        (None, "Mafia", False),
    ],
)
def test_only_allies_that_a_role_knows_must_be_spared(speaker: str | None, target: str, fits: bool) -> None:
    game = make_game([(MAFIOSO, "Agent-Bravo is Mafia.")])
    roles = {"Agent-Alpha": speaker, "Agent-Bravo": target}
    players = tuple(player.model_copy(update={"role": roles.get(player.name)}) for player in game.players)
    (row,) = role_consistency.measure(game.model_copy(update={"players": players})).ledger
    assert (row.verdict is RowVerdict.COUNTS) is fits
    assert ("whose side the role does not know" in row.reason) is fits


ASKED_ABOUT = ("Agent-Delta", "I am the seer")
READ_BY_HAND = (
    # What was said before, who says what, which acts at whom, and whether it fits.
    (VILLAGER, "your divine result is demonstrably false", {"accuse", "build_case"}, True),
    (VILLAGER, "I accuse Agent-Alpha! He dodged my question twice.", {"accuse", "build_case"}, True),
    (VILLAGER, "i dont think Agent-Bravo is mafia but i think she has a bloodlust", {"defend"}, False),
    (VILLAGER, "I think it is Agent-Bravo because it is Agent-Bravo.", {"accuse"}, False),
    (MAFIOSO, "It's not me", {"defend_self"}, True),
    (VILLAGER, "Does anybody have a suspicion?", set(), None),
)


@pytest.mark.parametrize(
    ("speaker", "text", "acts", "fits"), READ_BY_HAND, ids=[text for _, text, _, _ in READ_BY_HAND]
)
def test_messages_that_a_reader_would_understand(speaker: str, text: str, acts: set[str], fits: bool | None) -> None:
    row = measure(ASKED_ABOUT, (speaker, text)).ledger[-1]
    assert {one["act"] for one in row.details["acts"]} == acts
    verdicts = {True: RowVerdict.COUNTS, False: RowVerdict.DOES_NOT_COUNT, None: RowVerdict.EXCLUDED}
    assert row.verdict is verdicts[fits]


def test_row_ids_and_answers() -> None:
    rows = measure((VILLAGER, "Hello."), (MAFIOSO, "Agent-Delta is suspicious.", {"reply_to": "m0"})).ledger
    assert [(row.id, row.kind, row.refers_to) for row in rows] == [
        ("role_consistency:m0", "message", None),
        ("role_consistency:m1", "message", "m0"),
    ]


def test_without_roles_signal_or_language_it_is_not_applicable() -> None:
    unknown = dict.fromkeys(SIDES, None)
    assert measure((VILLAGER, "Agent-Bravo is Mafia."), sides=unknown).reason == "alignments unknown"
    silent = measure((VILLAGER, "Hello."))
    reason = "no message carries a role signal"
    assert (silent.status, silent.score, silent.reason) == (Status.NOT_APPLICABLE, None, reason)
    assert len(silent.ledger) == 1
    foreign = role_consistency.measure(make_game([(VILLAGER, "Agent-Bravo ist Mafia.")], language="de"))
    assert (foreign.status, foreign.reason) == (Status.NOT_APPLICABLE, "only English without a model")


def test_a_speaker_of_unknown_side_is_excluded() -> None:
    sides = {**SIDES, VILLAGER: None}
    result = measure((VILLAGER, "Agent-Bravo is Mafia."), (MAFIOSO, "Agent-Charlie is suspicious."), sides=sides)
    assert [row.verdict for row in result.ledger] == [RowVerdict.EXCLUDED, RowVerdict.COUNTS]
    assert result.ledger[0].reason == "The side of Agent-Charlie is not known."


def test_what_memory_accuracy_refutes_supports_no_act() -> None:
    """Both metrics read the same sentence: evidence that the record contradicts is none, and analyses no votes."""
    said = [
        (VILLAGER, "Agent-Delta defended Agent-Echo earlier and that is suspicious."),
        (VILLAGER, "Agent-Delta voted for Agent-Echo in round 0."),
        (VILLAGER, "Agent-Delta voted for Agent-Alpha in round 0."),
    ]
    votes = (Vote(round=0, voter="Agent-Delta", target="Agent-Alpha"),)
    game = make_game(said).model_copy(update={"votes": votes})
    memory = memory_accuracy.measure(game).ledger
    assert [row.verdict for row in memory] == [RowVerdict.DOES_NOT_COUNT, RowVerdict.DOES_NOT_COUNT, RowVerdict.COUNTS]
    role = role_consistency.measure(game).ledger
    assert [row.verdict for row in role] == [RowVerdict.EXCLUDED, RowVerdict.EXCLUDED, RowVerdict.COUNTS]
    assert role[0].reason == role[1].reason == "Rests on a reference to the past that the record contradicts; open."


@pytest.mark.parametrize("speaker", ["Agent-Delta", "Agent-Alpha"])
def test_who_tells_what_another_player_did_argues_where_the_record_shows_it(speaker: str) -> None:
    accusation = ("Agent-Charlie", "I suspect Agent-Bravo.")
    _, shown = measure(accusation, (speaker, "Agent-Charlie accused Agent-Bravo in round 1.")).ledger
    assert (shown.verdict, "with what others did, as the record shows" in shown.reason) == (RowVerdict.COUNTS, True)
    _, unshown = measure(accusation, (speaker, "Agent-Charlie accused Agent-Echo in round 1.")).ledger
    assert unshown.verdict is RowVerdict.EXCLUDED
    _, twice = measure(accusation, (speaker, "Agent-Charlie accused Agent-Bravo and Agent-Bravo will vote.")).ledger
    assert twice.reason.count("as the record shows") == 1


def test_an_open_row_says_what_was_found_in_the_message() -> None:
    said = {
        "Agent-Bravo voted early.": "No act of the table is certain, though it holds a name and a vote; open.",
        "I am not Mafia.": "Its acts (reveal role and defend self) speak neither for nor against a town player; open.",
    }
    assert {text: measure((VILLAGER, text)).ledger[0].reason for text in said} == said


def test_a_reader_finds_no_act_that_the_message_denies() -> None:
    game = make_game([(VILLAGER, "I'm less sure I trust Agent-Delta.")])
    assert read(Discussion.of(game))[0].denied == {(ActKind.ALLY, "Agent-Delta")}


PLANTED = (
    ("Agent-Alpha", "Let's not jump to conclusions about Agent-Bravo."),
    ("Agent-Bravo", "I think you're being too harsh on Agent-Alpha."),
    ("Agent-Charlie", "Agent-Alpha is suspicious because he changed his vote."),
    ("Agent-Delta", "I agree with Agent-Charlie, because Agent-Alpha lied. Agent-Alpha is Mafia."),
    ("Agent-Echo", "Agent-Bravo, why did you defend him?"),
    ("Agent-Alpha", "That seems hasty."),
)


def test_swapped_alignments_change_the_score() -> None:
    swapped: dict[str, Alignment | None] = {name: TOWN if side == MAFIA else MAFIA for name, side in SIDES.items()}
    assert measure(*PLANTED).score == 100.0
    # As town, Alpha (twice) and Bravo defend or deflect without a word of evidence; the others still pass as Mafia.
    assert measure(*PLANTED, sides=swapped).score == 50.0


@pytest.mark.parametrize(
    ("acts", "argues", "verdict"),
    [
        ([ActKind.ACCUSE], False, RowVerdict.DOES_NOT_COUNT),
        ([ActKind.ACCUSE], True, RowVerdict.EXCLUDED),
        ([ActKind.ACCUSE, ActKind.BUILD_CASE], True, RowVerdict.COUNTS),
        ([ActKind.QUESTION], True, RowVerdict.COUNTS),
    ],
)
def test_whether_an_accusation_has_evidence_stays_open_where_nobody_knows(
    acts: list[ActKind], argues: bool, verdict: RowVerdict
) -> None:
    game = make_game([(VILLAGER, "Agent-Alpha, that is the way it goes.")])
    prepared = Discussion.of(game).messages[0]
    found = tuple(speech_acts([(kind, "Agent-Alpha") for kind in acts], prepared, argues=argues))
    reading = replace(read(Discussion.of(game))[0], acts=found)
    (row,) = role_consistency.rows([reading], game)
    assert row.verdict is verdict
    assert ("not certain" in row.reason) == (verdict is RowVerdict.EXCLUDED)
