"""Assignments over a real store, and the grid of raters and games that leads read."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.errors import InputError, NotFoundError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.ratings import assign_games, rating_grid
from tests.games import game_of


def game(name: str) -> Transcript:
    return game_of([("Ann", f"{name} {place}") for place in range(10)], game_id=name)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Six games of an iteration."""
    held = Store(tmp_path / "games.duckdb")
    held.iterations.create("v1")
    for number in range(6):
        held.transcripts.add(game(f"game-{number}"), source_name="x", iteration="v1")
    yield held
    held.close()


def states(store: Store, rater: str) -> list[str]:
    return [str(row.cells[rater].state) if rater in row.cells else "not assigned" for row in rating_grid(store).games]


def test_an_iteration_is_assigned_with_two_raters_per_game(store: Store) -> None:
    games = store.transcripts.ids("v1")
    plan = assign_games(store, ["Ann", "Bob", "Cleo"], 2, who="Lea", games=games, seed=3, is_dry=True)
    assert plan.to_rate == {"Ann": 4, "Bob": 4, "Cleo": 4}
    assert store.rating_assignments.current() == []
    assert assign_games(store, ["Ann", "Bob", "Cleo"], 2, who="Lea", games=games, seed=3) == plan
    per_game = Counter(one.transcript_id for one in store.rating_assignments.current())
    assert set(per_game.values()) == {2}
    # What is planned already counts: asked again, nothing is added; a third rater a game is.
    assert assign_games(store, ["Ann", "Bob", "Cleo"], 2, who="Lea", games=games).pairs == ()
    assert len(assign_games(store, ["Ann", "Bob", "Cleo"], 3, who="Lea", games=games).pairs) == 6


def test_ratings_count_towards_the_overlap_and_discards_do_not(store: Store) -> None:
    first, second, *_ = store.transcripts.ids("v1")
    store.ratings.add(Rating(first, "Zoe", 3))
    store.discards.add(second, "Ann", DiscardReason.TRUNCATED)
    plan = assign_games(store, ["Ann", "Bob"], 2, who="Lea", games=[first, second])
    assert [game for game, _ in plan.pairs] == [first, second]
    assert plan.pairs[1] == (second, "Bob")
    assert plan.short == (second,)


def test_assignments_without_games_or_of_unknown_ones_are_refused(store: Store) -> None:
    with pytest.raises(InputError):
        assign_games(store, ["Ann"], 1, who="Lea", games=[])
    with pytest.raises(NotFoundError):
        assign_games(store, ["Ann"], 1, who="Lea", games=["gone"])


def test_the_grid_tells_how_far_everybody_is(store: Store) -> None:
    keys = store.transcripts.ids("v1")
    store.rating_assignments.add([(key, "Ann") for key in keys[:4]], who="Lea")
    for key in keys[:2]:
        store.ratings.add(Rating(key, "Ann", 4))
    store.drafts.save(store.ratings.token("Ann", keys[2]), 1, {"score": 3, "answers": [None] * 5, "comment": ""})
    store.discards.add(keys[3], "Ann", DiscardReason.TRUNCATED)
    assert states(store, "Ann") == ["done", "done", "under way", "cannot be rated", "not assigned", "not assigned"]
    store.ratings.add(Rating(keys[1], "Bob", 1))
    grid = rating_grid(store, "v1")
    assert grid.games[0].cells["Ann"].words == "4"
    counts = [(rater, one.rated, one.assigned, one.waiting) for rater, one in grid.raters.items()]
    assert counts == [("Ann", 2, 4, 1), ("Bob", 1, 0, 0)]
    assert [(one.is_disputed, one.spread, one.score) for one in grid.games[:2]] == [(False, 0, 4.0), (True, 3, 2.5)]
    store.engagement_decisions.add(keys[1], 3, who="Lea", reason="In between.")
    decided = rating_grid(store).games[1]
    assert (decided.score, decided.decision.reason) == (3.0, "In between.")
