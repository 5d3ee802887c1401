"""Assignments and decisions on engagement, in a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.errors import ConflictError, InputError
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.unit.store.small_games import game


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Ten games of no iteration."""
    held = Store(tmp_path / "games.duckdb")
    for number in range(10):
        held.transcripts.add(game(f"game-{number}"), source_name="x")
    yield held
    held.close()


def games(store: Store) -> list[str]:
    return store.transcripts.ids()


def queue(store: Store, rater: str) -> list[str]:
    """The whole queue of a rater who rates all of it."""
    found: list[str] = []
    while (key := store.rating_queue.next_unrated(rater)) is not None:
        found.append(key)
        store.ratings.add(Rating(key, rater, 3, token=f"{rater}:{len(found)}:{key}"))
    return found


def engagement(store: Store, key: str) -> tuple[float | None, float]:
    """Score and number of raters, once as the list of scores has it and once as the game has it."""
    result = store.results.load(key)["engagement"]
    table = store.results.scores()
    (row,) = table[(table["transcript_id"] == key) & (table["metric"] == "engagement")].to_dict("records")
    assert (row["score"], row["denominator"], row["status"]) == (result.score, result.denominator, str(result.status))
    return result.score, result.denominator


def test_assigned_games_come_first_and_the_queue_is_done_with_them(store: Store) -> None:
    wanted = games(store)[3:6]
    assert store.rating_assignments.add([(key, "Ann") for key in wanted], who="Lea") == 3
    assert store.rating_assignments.add([(wanted[0], " Ann ")], who="Lea") == 0
    progress = store.rating_queue.progress("Ann")
    assert (progress.assigned, progress.waiting) == (3, 3)
    for left in (2, 1, 0):
        key = store.rating_queue.next_unrated("Ann")
        assert key in wanted
        store.ratings.add(Rating(key, "Ann", 4))
        assert store.rating_queue.progress("Ann").waiting == left
    # The rest of the games is still handed out; somebody without assignments is done with all games only.
    assert store.rating_queue.next_unrated("Ann") not in wanted
    assert len(queue(store, "Bob")) == 10
    assert store.rating_queue.progress("Bob").left == 0


def test_what_is_put_aside_no_longer_waits(store: Store) -> None:
    from evaluation.rating_desk.assignments import DiscardReason

    key = games(store)[0]
    store.rating_assignments.add([(key, "Ann")], who="Lea")
    store.discards.add(key, "Ann", DiscardReason.TRUNCATED)
    assert store.rating_queue.progress("Ann").waiting == 0
    assert store.rating_queue.next_unrated("Ann") != key


def test_a_withdrawn_assignment_stays_on_record(store: Store) -> None:
    key = games(store)[7]
    store.rating_assignments.add([(key, "Ann")], who="Lea")
    assert store.rating_assignments.withdraw([(key, "Ann"), (key, "Bob")], who="Max") == 1
    assert store.rating_assignments.current() == []
    (held,) = store.rating_assignments.list()
    assert (held.who, held.withdrawn_by) == ("Lea", "Max")
    assert store.rating_queue.progress("Ann").assigned == 0
    assert store.rating_assignments.add([(key, "Ann")], who="Lea") == 1


def test_a_decision_counts_in_place_of_ratings_until_it_is_undone(store: Store) -> None:
    key = games(store)[0]
    for rater, score in (("Ann", 1), ("Bob", 4), ("Cleo", 4)):
        store.ratings.add(Rating(key, rater, score))
    # (1 + 4 + 4) / 3
    assert engagement(store, key) == (3.0, 3.0)
    first = store.engagement_decisions.add(key, 2, who="Lea", reason="Ann read it to the end.")
    assert engagement(store, key) == (2.0, 3.0)
    second = store.engagement_decisions.add(key, 4, who="Lea", reason="On second thoughts.")
    assert engagement(store, key) == (4.0, 3.0)
    store.engagement_decisions.undo(second, who="Max")
    assert engagement(store, key) == (2.0, 3.0)
    store.engagement_decisions.undo(first, who="Max")
    assert engagement(store, key) == (3.0, 3.0)
    assert [(one.score, one.undone_by) for one in store.engagement_decisions.list()] == [(2, "Max"), (4, "Max")]
    with pytest.raises(ConflictError):
        store.engagement_decisions.undo(first, who="Max")


def test_only_what_is_disputed_can_be_decided(store: Store) -> None:
    key = games(store)[0]
    for rater in ("Ann", "Bob"):
        store.ratings.add(Rating(key, rater, 3))
    with pytest.raises(ConflictError):
        store.engagement_decisions.add(key, 3, who="Lea", reason="No doubt.")
    store.ratings.add(Rating(key, "Bob", 1))
    for score, reason in ((6, "Too high"), (2, " ")):
        with pytest.raises(InputError):
            store.engagement_decisions.add(key, score, who="Lea", reason=reason)


def test_all_of_it_goes_to_the_trash_with_the_game_and_comes_back(store: Store) -> None:
    key = games(store)[0]
    for rater, score in (("Ann", 1), ("Bob", 5)):
        store.ratings.add(Rating(key, rater, score))
    store.rating_assignments.add([(key, "Cleo")], who="Lea")
    store.engagement_decisions.add(key, 4, who="Lea", reason="Bob is right.")
    deletion = store.deletions.delete([key], who="Lea")
    assert store.rating_assignments.list() == store.engagement_decisions.list() == []
    store.deletions.undo(deletion.id, who="Lea")
    assert engagement(store, key) == (4.0, 2.0)
    assert store.rating_queue.progress("Cleo").waiting == 1
    assert store.rating_queue.next_unrated("Cleo") == key
