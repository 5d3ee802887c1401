"""Metric 5: who speaks unlike everybody else."""

import pytest
from rapidfuzz import fuzz

from evaluation.rubric.metrics.personality_diversity import measure, similarities
from evaluation.score import RowVerdict, Status
from tests.games import discussion, game_of

ANALYTICAL = (
    "Evidence first: the data of round two, a pattern analysis, three contradictory statements, each documented. "
    "Methodically comparing records shows which hypothesis survives scrutiny. Every conclusion needs its source, so "
    "consider times, sequences and probabilities before concluding anything at all about motives."
)
AGGRESSIVE = (
    "I ACCUSE! Definitely, no doubt whatsoever! Enough dithering, cowards! String them up now, stop whining, move, "
    "burn it all, go go go, I'm sick of excuses! Shut your mouths, liars, tonight somebody hangs and it will be that "
    "snake over there!"
)
GENERIC = (
    "I think we should vote for the suspicious one and I think that they are suspicious so we should all vote now okay "
    "because they are really suspicious to me and I think we all see that they have been very suspicious"
)


def test_the_rubrics_passing_example() -> None:
    result = measure(discussion([("Agent-Alpha", ANALYTICAL), ("Agent-Bravo", AGGRESSIVE)]))
    assert (result.score, result.status, result.numerator, result.denominator) == (100.0, Status.PASSED, 2, 2)


def test_the_rubrics_failing_example() -> None:
    result = measure(discussion([(f"Agent-{letter}", GENERIC) for letter in "ABCD"]))
    assert (result.score, result.status) == (0.0, Status.FAILED)
    assert result.ledger[0].reason.startswith(
        "Most like Agent-B, 100.0 of 100: from 70 on a player's language does not count as their own. Both say "
    )
    assert result.ledger[0].details["shared"] == ["and i think", "i think we", "all see that"]
    # Three places of the player's own, and three of the twin's.
    shown = [(one.message_id, one.text) for one in result.ledger[0].evidence][::3]
    assert shown == [("m0", "I think we"), ("m1", "I think we")]


def test_half_of_the_players_are_unique() -> None:
    # Cleo and Dina say the same, Ann and Bob are like nobody: 100 * 2 / 4 = 50, which just passes.
    said = [("Ann", ANALYTICAL), ("Bob", AGGRESSIVE), ("Cleo", GENERIC), ("Dina", GENERIC.upper())]
    result = measure(discussion(said))
    assert (result.numerator, result.denominator, result.score, result.status) == (2, 4, 50.0, Status.PASSED)
    assert [row.id for row in result.ledger] == [f"personality_diversity:player:{who}" for who, _ in said]
    assert [row.details["nearest"] for row in result.ledger[2:]] == ["Dina", "Cleo"]


def test_the_matrix_holds_the_similarity_of_every_pair() -> None:
    result = measure(discussion([("Ann", "a b c d e " * 8), ("Bob", "a b c d f " * 8), ("Cleo", "v w x y z " * 8)]))
    names, rows = result.details["names"], result.details["rows"]
    assert names == ["Ann", "Bob", "Cleo"]
    # The distinct words share "a b c d"; "a b c d e" and "a b c d f" have 9 characters each, of which 8 match:
    # 100 * 2 * 8 / (9 + 9) = 88.89. The shared words against either: 100 * 2 * 7 / (7 + 9) = 87.5, which is less.
    assert rows[0][1] == pytest.approx(88.89, abs=0.005)
    assert rows[1][0] == rows[0][1]
    assert [rows[i][i] for i in range(3)] == [100.0, 100.0, 100.0]
    assert rows[0][2] == pytest.approx(fuzz.token_set_ratio("a b c d e", "v w x y z"), abs=0.005)


def test_seventy_is_alike() -> None:
    # The shared words "a b c d" (7 characters) against either text (13): 100 * 2 * 7 / (7 + 13) = 70. The whole texts
    # match in 8 characters only: 100 * 2 * 8 / (13 + 13) = 61.5, so 70 it is.
    result = measure(discussion([("Ann", "a b c d 12345 " * 8), ("Bob", "a b c d vwxyz " * 8)]))
    assert result.details["rows"][0][1] == 70.0
    assert result.numerator == 0


def test_players_of_few_words_are_excluded_and_listed() -> None:
    # 39 words besides the name "Bob", 40 words, and nobody heard.
    said = [("Ann", "word " * 39 + "Bob"), ("Bob", AGGRESSIVE), ("Cleo", "one " * 40)]
    result = measure(discussion(said, players=["Ann", "Bob", "Cleo", "Dina"]))
    excluded = {row.player: row.reason for row in result.ledger if row.verdict is RowVerdict.EXCLUDED}
    assert excluded == {
        "Ann": "Said 39 words besides names: too few to know a style by.",
        "Dina": "Said 0 words besides names: too few to know a style by.",
    }
    assert result.details["names"] == ["Bob", "Cleo"]
    assert result.denominator == 2


def test_names_do_not_make_players_alike() -> None:
    names = ["Agent-Alexander", "Agent-Bartholomew"]
    listing = " Agent-Alexander Bartholomew's" * 30
    plain = measure(discussion(list(zip(names, [ANALYTICAL, AGGRESSIVE], strict=True))))
    named = measure(discussion(list(zip(names, [ANALYTICAL + listing, AGGRESSIVE + listing], strict=True))))
    assert named.details["rows"] == plain.details["rows"]


@pytest.mark.parametrize("said", [[], [("Ann", ANALYTICAL)], [("Ann", ANALYTICAL), ("Bob", "hi")]])
def test_fewer_than_two_players_do_not_apply(said: list[tuple[str, str]]) -> None:
    result = measure(discussion(said, private=[("Bob", AGGRESSIVE)]))
    assert result.status is Status.NOT_APPLICABLE
    assert result.reason.startswith("fewer than two players to compare")


def test_players_are_compared_on_equal_amounts_of_text() -> None:
    # Bob's 40 words are a subset of Ann's 400; on 40 words of each, of which 36 differ, they are not alike.
    vocabulary = [f"{letter}{number * 7919 % 1000:03}{letter}" for number in range(50) for letter in "abcdefgh"]
    said = [("Ann", " ".join(vocabulary)), ("Bob", " ".join(vocabulary[::10]))]
    assert fuzz.token_set_ratio(said[0][1], said[1][1]) == 100.0
    result = measure(discussion(said))
    assert result.details["rows"][0][1] < 70
    assert result.score == 100.0


def test_the_median_of_evenly_spaced_windows_counts() -> None:
    # Bob has 40 words, Ann the same ones in one of three windows: 100, and twice what two other texts give.
    block = [[f"{letter}{number:02}" for number in range(40)] for letter in "xyz"]
    texts = [[word for part in block for word in part], block[0]]
    expected = [fuzz.token_set_ratio(" ".join(part), " ".join(block[0])) for part in block]
    assert expected[0] == 100.0 > sorted(expected)[1]
    assert similarities(texts)[0, 1] == pytest.approx(sorted(expected)[1])
    # Words repeat within 150: a window is at most that long.
    long = ["same"] * 150 + ["other"] * 150
    assert similarities([long, ["same"] * 150])[0, 1] == pytest.approx(
        (100 + fuzz.token_set_ratio("same", "other")) / 2
    )


def test_the_marks_of_a_declared_personality_are_named() -> None:
    styles = {"Ann": "Analytical", "Bob": "cautious", "Cleo": "a quiet gardener"}
    said = [("Ann", ANALYTICAL), ("Bob", AGGRESSIVE), ("Cleo", GENERIC)]
    ann, bob, cleo = measure(game_of(said, {name: {"personality": style} for name, style in styles.items()})).ledger
    assert ann.details["marks"]["personality"] == "analytical"
    assert ann.details["marks"]["found"] | {"evidence": 1, "data": 1, "pattern": 1} == ann.details["marks"]["found"]
    assert 'Described as analytical; the text shows it in "analysis"' in ann.reason
    assert bob.reason.endswith("Described as cautious; the text shows no mark of it.")
    assert cleo.details["marks"] is None


def test_hostile_texts_cost_no_time() -> None:
    # 10,000 distinct words, and one word of 90,000 letters: a window is at most 150 words and 4,000 characters.
    head = " ".join(f"w{i:05}" for i in range(5_000))
    said = [("Ann", head), ("Bob", head + " " + head.replace("w", "v")), ("Cleo", "x" * 90_000 + " " + GENERIC)]
    assert measure(discussion(said)).denominator == 3
    # Of 100 players each gets few windows.
    crowd = [[f"p{player}w{word % 97}" for word in range(300)] for player in range(100)]
    assert similarities(crowd).shape == (100, 100)
