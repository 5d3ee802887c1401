"""An iteration handed over to a rater: what waits comes first, mixed with one decoy, and nothing tells which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.unit.store.small_games import game


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """v1 and v2 with three games each, and ten games of no iteration that nobody has rated."""
    held = Store(tmp_path / "games.duckdb")
    for name in ("v1", "v2"):
        held.iterations.create(name, parent="v1" if name == "v2" else None)
        for number in range(3):
            held.transcripts.add(game(f"{name}-{number}"), source_name="x", iteration=name)
    for number in range(10):
        held.transcripts.add(game(f"loose-{number}"), source_name="x")
    yield held
    held.close()


def order(store: Store, rater: str) -> list[str]:
    """The whole queue of a rater who rates all."""
    names = {row["transcript_id"]: row["game_id"] for row in store.transcripts.summaries().to_dict("records")}
    found = []
    while (key := store.rating_queue.next_unrated(rater)) is not None:
        found.append(str(names[key]))
        store.ratings.add(Rating(key, rater, 3, token=f"{rater}:{key}"))
    return found


def sides(names: list[str]) -> str:
    return "".join(name[1] if name.startswith("v") else "-" for name in names)


def test_what_waits_comes_first_mixed_with_one_decoy_that_the_rater_has_not_rated(store: Store) -> None:
    names = {name: key for key, name in store.transcripts.game_ids().items()}
    # All of v1 is rated, one by Ann herself; two of v2 wait.
    for name, rater in (("v1-0", "Ann"), ("v1-1", "Bob"), ("v1-2", "Bob"), ("v2-0", "Bob")):
        store.ratings.add(Rating(names[name], rater, 3, token=name))
    assert store.rating_queue.handed_over_left("Ann") == 0
    orders = set()
    for rater in ("Ann", "Cid", "Dee", "Eve", "Fay"):
        store.rating_queue.hand_over(rater, "v2", "v1")
        left = store.rating_queue.handed_over_left(rater)
        assert left == 3
        found = []
        for _ in range(left):
            key = store.rating_queue.next_unrated(rater)
            assert key is not None
            found.append(key)
            store.discards.add(key, rater, DiscardReason.OTHER, "seen before")
        listed = [store.transcripts.game_ids()[key] for key in found]
        assert {"v2-1", "v2-2"} < set(listed)
        (decoy,) = set(listed) - {"v2-1", "v2-2"}
        assert decoy in ({"v1-1", "v1-2"} if rater == "Ann" else {"v1-0", "v1-1", "v1-2"})
        assert store.rating_queue.handed_over_left(rater) == 0
        orders.add(listed.index(decoy))
    assert len(orders) > 1


def test_without_a_handover_the_queue_is_as_before(store: Store) -> None:
    store.rating_queue.hand_over("Somebody else", "v2", "v1")
    assert sides(order(store, "Ann"))[:6].count("-") > 0


def test_one_waiting_game_is_not_hidden_behind_games_of_no_iteration(store: Store) -> None:
    for key, name in store.transcripts.summaries()[["transcript_id", "game_id"]].itertuples(index=False):
        if name.startswith("v") and name != "v2-1":
            store.ratings.add(Rating(key, "Ann", 3, token=f"before:{key}"))
    store.rating_queue.hand_over("Ann", "v2", "v1")
    assert order(store, "Ann")[0] == "v2-1"


def test_what_was_begun_still_comes_first_and_the_latest_handover_holds(store: Store) -> None:
    store.rating_queue.hand_over("Ann", "v2", "v1")
    store.rating_queue.hand_over("Ann", "v1", None)
    store.iterations.rename("v1", "first", who="Ann")
    names = {row["game_id"]: row["transcript_id"] for row in store.transcripts.summaries().to_dict("records")}
    begun = names["loose-4"]
    store.drafts.save(store.ratings.token("Ann", begun), 1, {"score": 2})
    found = order(store, "Ann")
    assert found[0] == "loose-4"
    assert sides(found[1:4]) == "111"


def test_an_iteration_that_is_gone_changes_nothing(store: Store) -> None:
    store.rating_queue.hand_over("Ann", "v9", None)
    assert len(order(store, "Ann")) == 16
