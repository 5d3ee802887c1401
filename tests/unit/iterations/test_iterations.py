"""Tests of three games, their means, the checklist, the chance of three in a row, and the board of all of it."""

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from evaluation.errors import InputError
from evaluation.iterations.board import games_by_iteration, make_board
from evaluation.iterations.checklist import CheckState, checklist
from evaluation.iterations.game_tests import Game, GameTest, chance_of_streak, form_tests, mean_scores
from evaluation.iterations.iteration import Iteration, current_iteration
from evaluation.iterations.keep_or_revert import Choice
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import Status
from tests.games import scores_of


def game(
    *,
    percent: float = 95.0,
    rating: float | None = 4.0,
    usd: float | None = 1.0,
    hits: float | None = 0.8,
    **scores: float,
) -> Game:
    values = dict.fromkeys(DEFINITIONS, percent) | scores | {"engagement": rating}
    return Game("t", "g", scores_of(values), usd, hits)


def one_test(*games: Game) -> GameTest:
    [test] = form_tests("first", games)
    return test


def full_tests(*kinds: Game) -> list[GameTest]:
    return [one_test(kind, kind, kind) for kind in kinds]


GOOD, BAD, UNRATED = game(), game(percent=10.0), game(rating=None)


def test_games_form_tests_of_three_in_their_order() -> None:
    games = [replace(GOOD, transcript_id=f"t{number}") for number in range(7)]
    tests = form_tests("first", games)
    ids = [[one.transcript_id for one in test.games] for test in tests]
    assert ids == [["t0", "t1", "t2"], ["t3", "t4", "t5"], ["t6"]]
    assert [test.number for test in tests] == [1, 2, 3]
    assert [test.is_complete for test in tests] == [True, True, False]
    assert tests[2].warning == "Only 1 game of 3: too few to rely on."
    assert tests[0].warning == ""


def test_a_test_is_judged_by_the_means_of_its_games() -> None:
    # (60 + 70 + 83) / 3 = 71 passes the 70 of coherence, though one game alone would not have.
    test = one_test(game(coherence=60.0), game(coherence=70.0), game(coherence=83.0))
    coherence = test.means["coherence"]
    assert (coherence.score, coherence.status, coherence.values) == (71.0, Status.PASSED, (60.0, 70.0, 83.0))
    assert test.verdict.status is VerdictStatus.PASSED
    assert test.verdict.passed_count == 7
    assert test.has_passed is True


def test_a_metric_that_could_not_be_computed_waits() -> None:
    broken = replace(GOOD, metrics={})
    mean = mean_scores([GOOD, broken])["coherence"]
    assert (mean.score, mean.waiting) == (95.0, 1)
    assert mean_scores([broken])["coherence"].status is Status.PENDING


def test_a_test_is_pending_while_one_of_its_games_is_unrated() -> None:
    test = one_test(GOOD, GOOD, UNRATED)
    assert test.verdict.status is VerdictStatus.PENDING
    assert "Engagement is pending: 2 of 3 games rated." in test.verdict.reasons
    assert test.has_passed is None
    # The mean of the two ratings can still be shown.
    assert test.means["engagement"].score == 4.0


def test_one_critically_failed_game_fails_its_test_whatever_the_means() -> None:
    # Issue 13: costs 0.90, 0.90 and 4.00 (mean 1.93), engagement 2, 3 and 4 (mean 3.0) read "passed".
    test = one_test(game(usd=0.9, rating=2.0), game(usd=0.9, rating=3.0), game(usd=4.0))
    assert (test.verdict.status, test.has_passed) == (VerdictStatus.FAILED, False)
    assert [one.is_critical for one in test.failures] == [True, True]
    assert test.verdict.reasons[:2] == (
        "g failed critically: Engagement is 2.0 of 5, below the threshold of 3; it is mandatory.",
        "g failed critically: The cost of 4.00 USD is above the limit of 3.00 USD.",
    )


def test_a_passed_test_lists_the_games_in_it_that_failed() -> None:
    weak = game(memory_accuracy=50.0, coherence=40.0, strategic_depth=40.0)
    test = one_test(GOOD, GOOD, weak)
    assert test.has_passed is True
    [failure] = test.failures
    assert not failure.is_critical
    assert failure.words == "g failed: Only 4 of 7 metrics pass; 5 are needed."


def test_unknown_costs_stay_out_of_the_mean_and_are_counted() -> None:
    cost = one_test(GOOD, game(usd=None), game(usd=2.0)).cost_usd
    assert (cost.mean, cost.known, cost.games, cost.is_complete) == (1.5, 2, 3, False)


SIGNED = Iteration(
    "third", signed_off_by="Ann", signed_off_at=datetime(2026, 3, 1, tzinfo=UTC), signed_off_note="gripping"
)


def test_three_good_tests_and_a_sign_off_open_the_gate() -> None:
    result = checklist(full_tests(GOOD, GOOD, GOOD), SIGNED)
    assert [check.state for check in result.checks] == [CheckState.MET] * 5
    assert [check.measured for check in result.checks] == [
        "over all iterations, 3 of the latest 3 tests passed",
        "lowest 4.0",
        "highest 1.00 USD",
        "mean 80.0 %",
        "Ann on 2026-03-01: gripping",
    ]
    assert (result.success, result.gate) == (CheckState.MET, CheckState.MET)


def test_consecutive_tests_may_span_iterations_and_only_the_latest_three_count() -> None:
    games = {"one": [BAD] * 3 + [GOOD] * 3, "two": [GOOD] * 6}
    board = make_board([Iteration("two", position=1), Iteration("one", position=0)], games)
    assert [(test.iteration, test.number) for test in board.tests] == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
    assert board.checklist.streak.state is CheckState.MET


def test_a_failure_among_the_latest_three_breaks_the_streak() -> None:
    result = checklist(full_tests(GOOD, GOOD, BAD, GOOD), None)
    assert result.streak.state is CheckState.NOT_MET
    assert result.streak.measured == "over all iterations, 2 of the latest 3 tests passed"
    assert result.success is CheckState.NOT_MET


def test_too_few_tests_do_not_meet_the_streak_and_leave_the_rest_unknown() -> None:
    result = checklist(full_tests(GOOD, GOOD), None)
    missed, unknown = CheckState.NOT_MET, CheckState.UNKNOWN
    assert [check.state for check in result.checks] == [missed, unknown, unknown, CheckState.MET, missed]
    nothing = checklist([], None)
    assert [check.measured for check in nothing.checks][:4] == ["no test yet", "no test yet", "no test yet", "unknown"]


def test_a_pending_test_leaves_the_streak_unknown() -> None:
    result = checklist(full_tests(GOOD, UNRATED, GOOD), None)
    assert (result.streak.state, result.engagement.state) == (CheckState.UNKNOWN, CheckState.UNKNOWN)
    assert result.streak.measured == "over all iterations, 2 of the latest 3 tests passed, 1 pending"
    assert result.engagement.measured == "lowest 4.0, 3 of the 9 games of these tests not rated"


def test_one_boring_or_dear_game_is_enough_to_miss_a_criterion() -> None:
    # "Consistently" means every game: the means of the tests are 3.7 of 5 and $1.93.
    tests = [*full_tests(GOOD, GOOD), one_test(GOOD, game(usd=4.0), game(rating=2.9))]
    found = checklist(tests, None)
    assert (found.engagement.state, found.engagement.measured) == (CheckState.NOT_MET, "lowest 2.9")
    assert (found.cost.state, found.cost.measured) == (CheckState.NOT_MET, "highest 4.00 USD")


@pytest.mark.parametrize(
    ("usd", "state", "words"),
    [
        ([1.0, 1.0, 1.999], CheckState.MET, "highest 1.999 USD"),
        ([1.0, 1.0, 2.0], CheckState.NOT_MET, "highest 2.00 USD"),
        ([1.0, 1.0, None], CheckState.UNKNOWN, "highest 1.00 USD, 3 of the 9 games of these tests unknown"),
        # Too high already, whatever the others cost.
        ([1.0, 2.5, None], CheckState.NOT_MET, "highest 2.50 USD, 3 of the 9 games of these tests unknown"),
    ],
)
def test_cost_must_stay_below_two_dollars_in_every_game(usd: list[float | None], state: CheckState, words: str) -> None:
    check = checklist(full_tests(*(game(usd=one) for one in usd)), None).cost
    assert (check.state, check.measured) == (state, words)


@pytest.mark.parametrize(
    ("hits", "state", "words"),
    [
        ([0.7] * 3, CheckState.NOT_MET, "mean 70.0 %"),
        ([0.7004] * 3, CheckState.MET, "mean 70.04 %"),
        ([0.8, 0.8, None], CheckState.UNKNOWN, "mean 80.0 % (recorded for 6 of 9 games)"),
        ([None] * 3, CheckState.UNKNOWN, "unknown"),
    ],
)
def test_the_cache_hit_rate_must_exceed_seventy_percent(
    hits: list[float | None], state: CheckState, words: str
) -> None:
    check = checklist(full_tests(*(game(hits=one) for one in hits)), None).cache
    assert (check.state, check.measured) == (state, words)


def test_the_gate_needs_the_sign_off_but_success_does_not() -> None:
    result = checklist(full_tests(GOOD, GOOD, GOOD), Iteration("third"))
    assert (result.success, result.gate) == (CheckState.MET, CheckState.NOT_MET)


def test_the_chance_is_the_cube_of_the_pass_rate() -> None:
    # 3 of 4 decided tests passed: 0.75 cubed = 0.421875. The pending and the incomplete one are left out.
    chance = chance_of_streak([*full_tests(GOOD, GOOD, GOOD, BAD, UNRATED), one_test(GOOD)])
    assert (chance.value, chance.passed, chance.tests) == (0.421875, 3, 4)
    assert 0 < chance.low < chance.value < chance.high < 1


def test_the_board_compares_with_the_parent_or_what_was_kept_or_the_baseline() -> None:
    iterations = [
        Iteration("zero", position=0),
        Iteration("base", position=1, is_baseline=True),
        Iteration("next", position=2, target_metric="coherence"),
        Iteration("empty", position=3),
    ]
    games = {"zero": [BAD], "base": [game(coherence=71.0)] * 3, "next": [GOOD] * 3}
    board = make_board(iterations, games)
    zero, base, later, empty = board.iterations
    assert (zero.decision, base.decision) == (None, None)
    assert (later.decision.choice, later.decision.reference) == (Choice.KEEP, "base")
    assert empty.decision.choice is Choice.NOT_YET
    assert (empty.verdict, empty.warnings) == (None, ("No games yet.",))
    assert zero.warnings == ("Test 1: Only 1 game of 3: too few to rely on.",)
    assert board.baseline is base
    assert board.current is later
    assert board["next"] is later
    with pytest.raises(KeyError):
        board["missing"]


def test_the_newest_with_a_game_is_current_and_an_earlier_one_that_waits_is_named() -> None:
    iterations = [Iteration(f"v{n}", place, is_baseline=not place) for place, n in enumerate((1, 4, 5, 6, 7))]
    board = make_board(iterations, {"v1": [GOOD] * 3, "v4": [GOOD] * 3, "v5": [GOOD] * 2, "v6": [GOOD]})
    assert board.current is board["v6"]
    assert board.waiting_before is board["v4"]
    assert current_iteration(["v1", "v2"], set()) == "v2"
    assert current_iteration([], set()) is None


def test_an_iteration_needs_a_name_and_a_real_target() -> None:
    with pytest.raises(InputError, match="cannot name"):
        Iteration("  ")
    with pytest.raises(InputError, match="is not a metric"):
        Iteration("one", target_metric="charm")


def test_games_come_by_iteration_in_the_order_in_which_they_were_added() -> None:
    columns = ["transcript_id", "game", "iteration", "position", "players", "source_format", "total_usd"]
    rows = [
        ("c", "game-c", "two", 0, 8, "native", 1.25, 0.5),
        ("b", "game-b", "one", 1, 7, "native", None, None),
        ("a", "game-a", "one", 0, 7, "aiwolf", 0.0, 0.0),
        ("d", "game-d", None, None, 5, "native", None, None),
    ]
    games = games_by_iteration(pd.DataFrame(rows, columns=[*columns, "cache_hit_rate"]), {}, {"c": "b"})
    ids = {name: [game.transcript_id for game in held] for name, held in games.items()}
    assert ids == {"one": ["a", "b"], "two": ["c"]}
    assert (games["two"][0].metrics, games["two"][0].original) == ({}, "b")
    assert [(game.players, game.source) for game in games["one"]] == [(7, "aiwolf"), (7, "native")]
    # Missing numbers become None, and zero stays zero.
    first, second = games["one"]
    assert (first.total_usd, first.cache_hit_rate) == (0.0, 0.0)
    assert (second.total_usd, second.cache_hit_rate) == (None, None)
