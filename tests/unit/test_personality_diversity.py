"""Metric 5: who speaks unlike everybody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rapidfuzz import fuzz

from evaluation.rubric.personality_diversity import measure
from evaluation.score import RowVerdict, Status
from evaluation.transcript import Transcript

MakeGame = Callable[..., Transcript]

ANALYTICAL = (
    "Evidence first: the data of round two, a pattern analysis, three contradictory statements, each documented. "
    "Methodically comparing records shows which hypothesis survives scrutiny."
)
AGGRESSIVE = (
    "I ACCUSE! Definitely, no doubt whatsoever! Enough dithering, cowards! String them up now, stop whining, move, "
    "burn it all, go go go, I'm sick of excuses!"
)
GENERIC = (
    "I think we should vote for the suspicious one and I think that they are suspicious so we should all vote now okay"
)


def test_the_rubrics_passing_example(make_game: MakeGame) -> None:
    result = measure(make_game([("Agent-Alpha", ANALYTICAL), ("Agent-Bravo", AGGRESSIVE)]))
    assert (result.score, result.status, result.numerator, result.denominator) == (100.0, Status.PASSED, 2, 2)


def test_the_rubrics_failing_example(make_game: MakeGame) -> None:
    result = measure(make_game([(f"Agent-{letter}", GENERIC) for letter in "ABCD"]))
    assert (result.score, result.status) == (0.0, Status.FAILED)
    assert result.ledger[0].reason == "Most like Agent-B, 100.0 of 100: at 70 or more their language is not their own."


def test_half_of_the_players_are_unique(make_game: MakeGame) -> None:
    # Cleo and Dina say the same, Ann and Bob are like nobody: 100 * 2 / 4 = 50, which just passes.
    said = [("Ann", ANALYTICAL), ("Bob", AGGRESSIVE), ("Cleo", GENERIC), ("Dina", GENERIC.upper())]
    result = measure(make_game(said))
    assert (result.numerator, result.denominator, result.score, result.status) == (2, 4, 50.0, Status.PASSED)
    assert [row.id for row in result.ledger] == [f"personality_diversity:player:{who}" for who, _ in said]
    assert [row.details["nearest"] for row in result.ledger[2:]] == ["Dina", "Cleo"]


def test_the_matrix_holds_the_similarity_of_every_pair(make_game: MakeGame) -> None:
    result = measure(make_game([("Ann", "a b c d e " * 4), ("Bob", "a b c d f " * 4), ("Cleo", "v w x y z " * 4)]))
    names, rows = result.details["names"], result.details["rows"]
    assert names == ["Ann", "Bob", "Cleo"]
    # The distinct words share "a b c d"; "a b c d e" and "a b c d f" have 9 characters each, of which 8 match:
    # 100 * 2 * 8 / (9 + 9) = 88.89. The shared words against either: 100 * 2 * 7 / (7 + 9) = 87.5, which is less.
    assert rows[0][1] == pytest.approx(88.89, abs=0.005)
    assert rows[1][0] == rows[0][1]
    assert [rows[i][i] for i in range(3)] == [100.0, 100.0, 100.0]
    assert rows[0][2] == pytest.approx(fuzz.token_set_ratio("a b c d e", "v w x y z"), abs=0.005)


def test_seventy_is_alike(make_game: MakeGame) -> None:
    # The shared words "a b c d" (7 characters) against either text (13): 100 * 2 * 7 / (7 + 13) = 70. The whole texts
    # match in 8 characters only: 100 * 2 * 8 / (13 + 13) = 61.5, so 70 it is.
    result = measure(make_game([("Ann", "a b c d 12345 " * 4), ("Bob", "a b c d vwxyz " * 4)]))
    assert result.details["rows"][0][1] == 70.0
    assert result.numerator == 0


def test_players_of_few_words_are_excluded_and_listed(make_game: MakeGame) -> None:
    # 19 words besides the name "Bob", 20 words, and nobody heard.
    said = [("Ann", "word " * 19 + "Bob"), ("Bob", AGGRESSIVE), ("Cleo", "one " * 20)]
    result = measure(make_game(said, players=["Ann", "Bob", "Cleo", "Dina"]))
    excluded = {row.player: row.reason for row in result.ledger if row.verdict is RowVerdict.EXCLUDED}
    assert excluded == {
        "Ann": "Said 19 words besides names: too few to know a style by.",
        "Dina": "Said 0 words besides names: too few to know a style by.",
    }
    assert result.details["names"] == ["Bob", "Cleo"]
    assert result.denominator == 2


def test_names_do_not_make_players_alike(make_game: MakeGame) -> None:
    names = ["Agent-Alexander", "Agent-Bartholomew"]
    listing = " Agent-Alexander Bartholomew's" * 30
    plain = measure(make_game(list(zip(names, [ANALYTICAL, AGGRESSIVE], strict=True))))
    named = measure(make_game(list(zip(names, [ANALYTICAL + listing, AGGRESSIVE + listing], strict=True))))
    assert named.details["rows"] == plain.details["rows"]


@pytest.mark.parametrize("said", [[], [("Ann", ANALYTICAL)], [("Ann", ANALYTICAL), ("Bob", "hi")]])
def test_fewer_than_two_players_do_not_apply(make_game: MakeGame, said: list[tuple[str, str]]) -> None:
    result = measure(make_game(said, private=[("Bob", AGGRESSIVE)]))
    assert result.status is Status.NOT_APPLICABLE
    assert result.reason.startswith("fewer than two players to compare")


def test_other_languages_are_compared_by_their_words(make_game: MakeGame) -> None:
    german = "Ich glaube, dass Anna lügt, weil sie gestern nichts gesagt und gegen Peter gestimmt hat. " * 4
    assert measure(make_game([("Anna", german), ("Peter", german)])).score == 0.0


def test_languages_without_spaces_do_not_apply(make_game: MakeGame) -> None:
    japanese = "私は田中さんが怪しいと思います。昨日は何も言わなかったし、今日も静かです。" * 10
    result = measure(make_game([("花子", japanese), ("太郎", japanese)]))
    assert result.reason == "unsupported language: ja is written without spaces between words"


def test_very_long_texts_are_compared_by_their_first_words(make_game: MakeGame) -> None:
    # 40,000 distinct words of 6 characters each would take minutes; the first 20,000 characters are the same here.
    head = " ".join(f"w{i:05}" for i in range(20_000))
    said = [("Ann", head), ("Bob", head + " " + head.replace("w", "v")), ("Cleo", GENERIC)]
    assert measure(make_game(said)).details["rows"][0][1] == 100.0
