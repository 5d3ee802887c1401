"""Plans of assignments: overlap, balance, pairs and seeds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from evaluation.errors import InputError
from evaluation.rating_desk.assignments import plan_assignments

GAMES = [f"g{number}" for number in range(12)]


def teams(plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for game, rater in plan.pairs:
        found.setdefault(game, set()).add(rater)
    return found


def test_every_game_gets_two_raters_and_every_rater_as_many_games() -> None:
    plan = plan_assignments(GAMES, ["Ann", "Bob", "Cleo", "Dan"], 2, seed=7)
    assert [len(team) for team in teams(plan).values()] == [2] * 12
    # 24 places for four people.
    assert plan.to_rate == {"Ann": 6, "Bob": 6, "Cleo": 6, "Dan": 6}
    assert plan.short == ()
    met = Counter(frozenset(team) for team in teams(plan).values())
    # Twelve games and six pairs of raters: two each.
    assert {met[frozenset(pair)] for pair in combinations(["Ann", "Bob", "Cleo", "Dan"], 2)} <= {1, 2, 3}
    assert len(met) == 6


def test_who_rated_counts_and_who_cannot_rate_is_not_asked() -> None:
    plan = plan_assignments(["g0", "g1"], ["Ann", "Bob"], 2, held={"g0": {"Zoe", "Ann"}}, refused={"g1": {"Bob"}})
    assert plan.pairs == (("g1", "Ann"),)
    assert plan.short == ("g1",)


def test_new_raters_get_games_in_common_with_those_who_have_rated() -> None:
    rated = {f"g{number}": {"Ann", "Bob"} for number in range(5)}
    apart = plan_assignments(["g6", "g7"], ["Ann", "Bob", "Cleo"], 1, held=rated, beside=GAMES)
    assert apart.common == 0
    plan = plan_assignments(["g6", "g7"], ["Ann", "Bob", "Cleo"], 1, held=rated, common=3, beside=GAMES)
    # Three of the games that the two share, and those to rate go to them.
    assert [rater for game, rater in plan.pairs if game in rated] == ["Cleo"] * 3
    assert (plan.common, plan.games, plan.short) == (3, 5, ())
    assert plan.to_rate == {"Ann": 1, "Bob": 1, "Cleo": 3}
    # Somebody alone shares them with whoever has rated; games that are shared already are not given again.
    alone = plan_assignments(["g0"], ["Cleo"], 1, held=rated, common=3, beside=GAMES)
    assert (len(alone.pairs), alone.common) == (3, 3)
    assert plan_assignments(["g0"], ["Ann", "Bob"], 2, held=rated, common=3, beside=GAMES).pairs == ()


@pytest.mark.parametrize(
    ("games", "raters", "overlap", "place"),
    [
        ([], ["Ann"], 1, "games"),
        (["g"], [], 1, "raters"),
        (["g"], ["Ann", "Ann "], 2, "2 raters per game cannot be chosen from 1 named rater. Ask for 1 to 1"),
        (["g"], ["A"], 0, "0 raters per game"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(games, raters, overlap, place) -> None:
    with pytest.raises(InputError) as refused:
        plan_assignments(games, raters, overlap)
    assert place in str(refused.value)
