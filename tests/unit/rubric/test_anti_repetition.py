"""Metric 6: repeated three-word phrases of the same player."""

import pytest

from evaluation.iterations.game_tests import Game, mean_scores
from evaluation.rubric.advice import shortfall
from evaluation.rubric.metrics.anti_repetition import measure
from evaluation.rubric.verdict import apply_thresholds, compute_verdict
from evaluation.score import Method, MetricResult, RowVerdict, Status, redecided, replace_rows
from tests.games import discussion

ALPHABET = [f"w{i}" for i in range(2000)]


def repeated(result: MetricResult) -> dict[str, int]:
    """Phrase and number of uses of every phrase row."""
    return {row.details["phrase"]: row.details["uses"] for row in result.ledger if row.kind == "phrase"}


def fresh(start: int, count: int = 6) -> str:
    """Words that are used nowhere else."""
    return " ".join(ALPHABET[start : start + count])


def fifty_messages(phrase: str, uses: int) -> list[tuple[str, str]]:
    return [("Ann", f"{phrase if i < uses else fresh(1000 + i * 3, 3)} {fresh(i * 10, 10)}") for i in range(50)]


def test_the_rubrics_passing_example() -> None:
    # 50 messages of 13 words hold 11 phrases each, 550 in all; "I think that" 3 times is 2 repetitions.
    result = measure(discussion(fifty_messages("I think that", 3)))
    assert (result.numerator, result.denominator, result.status) == (548, 550, Status.PASSED)
    assert result.score == pytest.approx(100 - 100 * 2 / 550)
    assert result.notes == ()


def test_the_rubrics_failing_example_fails_whatever_the_score() -> None:
    # 14 repetitions of 550 phrases are 2.5 %, yet a phrase in 15 of 50 messages (30 %) is robotic.
    result = measure(discussion(fifty_messages("I think Agent", 15)))
    assert (result.numerator, result.denominator, result.status) == (536, 550, Status.FAILED)
    assert result.reason == 'robotic: "i think agent" stands in 15 of 50 messages, 30 % or more'
    assert result.notes == ('repetitive: Ann uses "i think agent" 15 times in 15 of 50 messages',)
    numbers = {"phrase": "i think agent", "uses": 15, "messages": 15, "of_messages": 50}
    assert result.details["robotic"] == [
        {"player": None, **numbers, "fails": True},
        {"player": "Ann", **numbers, "fails": False},
    ]
    row = result.ledger[0]
    assert (row.id, row.verdict, len(row.evidence)) == ("anti_repetition::i think agent", RowVerdict.EXCLUDED, 15)
    assert row.reason == (
        '"i think agent" stands in 15 of 50 messages, 30 % or more: robotic: it fails whatever its score.'
    )


def test_the_robotic_rule_is_over_all_players() -> None:
    said = [
        (f"P{i % 10}", f"{'I think Bob' if i < 15 else fresh(1500 + i * 3, 3)} {fresh(i * 10, 8)}") for i in range(50)
    ]
    result = measure(discussion(said, players=["Bob"]))
    assert (result.score or 0) > 97
    assert (result.status, result.reason) == (
        Status.FAILED,
        'robotic: "i think NAME" stands in 15 of 50 messages, 30 % or more',
    )
    # One message less is 28 %: flagged, and passed.
    fewer = measure(discussion([*said[:14], ("P4", fresh(1900)), *said[15:]], players=["Bob"]))
    assert (fewer.status, fewer.reason) == (Status.PASSED, "")
    assert fewer.notes == ('repetitive: "i think NAME" stands in 14 of 50 messages, 15 % or more',)


@pytest.mark.parametrize(
    ("phrase", "messages", "fails"),
    [
        ("mark my words", 20, True),
        # A discussion of fewer than 20 messages is too short for that rule.
        ("mark my words", 19, False),
        # Function words alone, and the game's own formulas, are said in every game.
        ("we have to", 30, False),
        ("vote for Bob", 30, False),
    ],
)
def test_what_makes_a_discussion_robotic(phrase: str, messages: int, fails: bool) -> None:
    said = [(f"P{i}", f"{fresh(i * 10, 4)}. {phrase}") for i in range(messages)]
    assert (measure(discussion(said, players=["Bob"])).status is Status.FAILED) is fails


@pytest.mark.parametrize(
    ("uses", "others", "is_robotic"),
    # 4 uses are too few; 5 of 33 messages are 15.15 %, 6 of 40 are exactly 15 %, 6 of 41 are less.
    [(4, 0, False), (5, 0, True), (5, 28, True), (6, 34, True), (6, 35, False)],
)
def test_flagged_is_fifteen_percent_of_a_players_messages_and_five_uses(
    uses: int, others: int, is_robotic: bool
) -> None:
    said = [("Ann", f"mark my words {fresh(i * 10)}") for i in range(uses)]
    said += [("Ann", fresh(1000 + i * 10)) for i in range(others)]
    result = measure(discussion(said))
    row = next(row for row in result.ledger if row.player == "Ann")
    assert row.details["robotic"] is is_robotic
    assert bool(result.notes) is is_robotic
    assert result.status is not Status.FAILED or (result.score is not None and result.score < 90)


def test_a_robotic_failure_outlives_thresholds_and_overrides() -> None:
    result = measure(discussion(fifty_messages("I think Agent", 15)))
    lenient = apply_thresholds({"anti_repetition": result}, {"anti_repetition": 10.0})["anti_repetition"]
    assert (lenient.status, lenient.reason) == (Status.FAILED, result.reason)
    assert shortfall("anti_repetition", lenient) == 0.0
    first = result.ledger[-1]
    overridden = replace_rows(result, {first.id: redecided(first, RowVerdict.COUNTS, method=Method.HUMAN)})
    assert (overridden.status, overridden.reason) == (Status.FAILED, result.reason)
    verdict = compute_verdict({"anti_repetition": result}, None)
    assert any("Anti-repetition is 97.5 %, but robotic" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(("robotic", "games", "status"), [(1, 3, "passed"), (2, 3, "failed"), (1, 2, "failed")])
def test_games_together_fail_when_half_of_them_are_robotic(robotic: int, games: int, status: str) -> None:
    results = [measure(discussion(fifty_messages("I think Agent", 15 if i < robotic else 2))) for i in range(games)]
    played = [Game(f"t{i}", f"g{i}", {"anti_repetition": result}) for i, result in enumerate(results)]
    mean = mean_scores(played)["anti_repetition"]
    assert (mean.score or 0) > 97
    assert mean.status == status
    assert ("robotic" in mean.reason) is (status == "failed")


def test_any_name_is_one_word() -> None:
    # Three messages of NAME-words: "i think NAME", "think NAME is", "NAME is odd": each 3 times, 9 uses, 3 first ones.
    said = [("Ann", "I think Agent Bravo is odd"), ("Ann", "I think Cid is odd"), ("Ann", "I think Bravo's is odd")]
    result = measure(discussion(said, players=["Agent Bravo", "Cid"]))
    assert repeated(result) == {"i think NAME": 3, "think NAME is": 3, "NAME is odd": 3}
    assert (result.numerator, result.denominator) == (3, 9)
    row = result.ledger[0]
    assert [(e.message_id, e.text) for e in row.evidence] == [
        ("m0", "I think Agent Bravo"),
        ("m1", "I think Cid"),
        ("m2", "I think Bravo"),
    ]
    assert (row.id, row.verdict) == ("anti_repetition:Ann:i think NAME", RowVerdict.DOES_NOT_COUNT)
    assert (row.numerator, row.denominator) == (0.0, 2.0)


def test_formulas_of_the_game_are_left_out() -> None:
    # NAME or a game term among function words and numbers; "i think NAME" and "we have to" stay in.
    said = [("Ann", "Mafia voted Bob"), ("Ann", "I will vote for Bob in round 2"), ("Ann", "Cid and Bob")] * 2
    result = measure(discussion(said, players=["Bob", "Cid"]))
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "no phrase of three words")
    result = measure(discussion([("Ann", "I think Bob"), ("Ann", "we have to")] * 2, players=["Bob"]))
    assert repeated(result) == {"i think NAME": 2, "we have to": 2}


def test_phrases_of_different_players_are_no_repetition() -> None:
    result = measure(discussion([("Ann", "this is odd"), ("Bob", "this is odd"), ("Ann", "this is odd")]))
    # Ann: 2 uses, one repeated. Bob: 1 use.
    assert (result.numerator, result.denominator) == (2, 3)
    assert [row.id for row in result.ledger] == [
        "anti_repetition:Ann:this is odd",
        "anti_repetition:player:Ann",
        "anti_repetition:player:Bob",
    ]


def test_phrases_do_not_cross_messages_and_repeat_within_one() -> None:
    assert measure(discussion([("Ann", "one two"), ("Ann", "three four")])).status is Status.NOT_APPLICABLE
    # "a b c a b c": abc, bca, cab, abc: four uses, one of them repeated.
    result = measure(discussion([("Ann", "a b c a b c")]))
    assert (result.numerator, result.denominator) == (3, 4)
    assert result.ledger[0].reason == 'Ann uses "a b c" 2 times in one message; only the first use counts.'
    assert [(e.start, e.end) for e in result.ledger[0].evidence] == [(0, 5), (6, 11)]


def test_the_most_repeated_phrase_stands_first_and_first_uses_count_by_player() -> None:
    rows = measure(discussion([("Ann", "so it goes")] * 2 + [("Bob", "on and on")] * 3)).ledger
    repeats = [(row.player, row.details["uses"], row.denominator) for row in rows if row.kind == "phrase"]
    assert repeats == [("Bob", 3, 2.0), ("Ann", 2, 1.0)]
    (row,) = measure(discussion([("Ann", "one two three four")])).ledger
    assert (row.verdict, row.numerator, row.denominator) == (RowVerdict.COUNTS, 2.0, 2.0)
    assert row.reason == "Ann uses 2 different phrases; the first use of each counts."


def test_windows_of_500_tokens_compare_long_and_short_games() -> None:
    # Ann says the same ten words twice at each end of 600 others. In the whole, 8 of 8 + 8 + 598 phrases repeat; the
    # first window closes with the 600 words, so no repetition is seen within it, and the rest is left out.
    said = [("Ann", fresh(0, 10)), ("Ann", fresh(100, 600)), ("Ann", fresh(0, 10))]
    result = measure(discussion(said))
    assert result.numerator == result.denominator - 8
    assert result.details["windowed_score"] == 100.0
    assert (result.details["windows"], result.details["window_tokens"]) == (1, 500)
    # A short game is one window.
    result = measure(discussion([("Ann", "a b c a b c")]))
    assert result.details["windowed_score"] == result.score == 75.0


@pytest.mark.parametrize("said", [[], [("Ann", "no way")], [("Ann", "🙂 🙂 🙂 🙂")]])
def test_without_phrases_it_does_not_apply(said: list[tuple[str, str]]) -> None:
    result = measure(discussion(said, private=[("Ann", "one two three")]))
    assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "no phrase of three words")


def test_a_hostile_message_stays_small() -> None:
    # 100,000 uses of one phrase are counted, 200 places are shown.
    result = measure(discussion([("Ann", "go " * 100_002)]))
    assert (result.numerator, result.denominator) == (1, 100_000)
    assert len(result.ledger[0].evidence) == 200
