"""Assignments, handovers of iterations and decisions on engagement, in a real database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.errors import ConflictError, InputError
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Elimination
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of
from tests.unit.store.small_games import game


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Ten games of no iteration that nobody has rated."""
    held = Store(tmp_path / "games.duckdb")
    for number in range(10):
        held.transcripts.add(game(f"loose-{number}"), source_name="x")
    yield held
    held.close()


@pytest.fixture
def compared(store: Store) -> Store:
    """v1 and v2 with three games each beside them."""
    for name in ("v1", "v2"):
        store.iterations.create(name, parent="v1" if name == "v2" else None)
        for number in range(3):
            store.transcripts.add(game(f"{name}-{number}"), source_name="x", iteration=name)
    return store


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


# An iteration handed over: what waits comes first, mixed with one decoy, and nothing tells which.


def order(store: Store, rater: str) -> list[str]:
    """The whole queue of a rater who rates all, by name."""
    names = store.transcripts.game_ids()
    return [names[key] for key in queue(store, rater)]


def sides(names: list[str]) -> str:
    return "".join(name[1] if name.startswith("v") else "-" for name in names)


def test_what_waits_comes_first_mixed_with_one_decoy_that_the_rater_has_not_rated(compared: Store) -> None:
    names = {name: key for key, name in compared.transcripts.game_ids().items()}
    # All of v1 is rated, one by Ann herself; two of v2 wait.
    for name, rater in (("v1-0", "Ann"), ("v1-1", "Bob"), ("v1-2", "Bob"), ("v2-0", "Bob")):
        compared.ratings.add(Rating(names[name], rater, 3, token=name))
    assert compared.rating_queue.handed_over_left("Ann") == 0
    orders = set()
    for rater in ("Ann", "Cid", "Dee", "Eve", "Fay"):
        compared.rating_queue.hand_over(rater, "v2", "v1")
        left = compared.rating_queue.handed_over_left(rater)
        assert left == 3
        found = []
        for _ in range(left):
            key = compared.rating_queue.next_unrated(rater)
            assert key is not None
            found.append(key)
            compared.discards.add(key, rater, DiscardReason.OTHER, "seen before")
        listed = [compared.transcripts.game_ids()[key] for key in found]
        assert {"v2-1", "v2-2"} < set(listed)
        (decoy,) = set(listed) - {"v2-1", "v2-2"}
        assert decoy in ({"v1-1", "v1-2"} if rater == "Ann" else {"v1-0", "v1-1", "v1-2"})
        assert compared.rating_queue.handed_over_left(rater) == 0
        orders.add(listed.index(decoy))
    assert len(orders) > 1


def test_without_a_handover_the_queue_is_as_before(compared: Store) -> None:
    compared.rating_queue.hand_over("Somebody else", "v2", "v1")
    assert sides(order(compared, "Ann"))[:6].count("-") > 0


def test_one_waiting_game_is_not_hidden_behind_games_of_no_iteration(compared: Store) -> None:
    for key, name in compared.transcripts.summaries()[["transcript_id", "game_id"]].itertuples(index=False):
        if name.startswith("v") and name != "v2-1":
            compared.ratings.add(Rating(key, "Ann", 3, token=f"before:{key}"))
    compared.rating_queue.hand_over("Ann", "v2", "v1")
    assert order(compared, "Ann")[0] == "v2-1"


def test_what_was_begun_still_comes_first_and_the_latest_handover_holds(compared: Store) -> None:
    compared.rating_queue.hand_over("Ann", "v2", "v1")
    compared.rating_queue.hand_over("Ann", "v1", None)
    compared.iterations.rename("v1", "first", who="Ann")
    names = {row["game_id"]: row["transcript_id"] for row in compared.transcripts.summaries().to_dict("records")}
    begun = names["loose-4"]
    compared.drafts.save(compared.ratings.token("Ann", begun), 1, {"score": 2})
    found = order(compared, "Ann")
    assert found[0] == "loose-4"
    assert sides(found[1:4]) == "111"


def test_an_iteration_that_is_gone_changes_nothing(compared: Store) -> None:
    compared.rating_queue.hand_over("Ann", "v9", None)
    assert len(order(compared, "Ann")) == 16


# At the desk nobody is called by a name that says what the desk withholds.


def test_names_that_tell_who_is_human_which_model_or_which_role_are_numbers() -> None:
    spoken = ("human", "gpt-4", "Speaker 1", "Seer", "human")
    players = {
        "human": {"is_human": True},
        "gpt-4": {"model": "GPT-4"},
        "Speaker 1": {"role": "villager"},
        "Seer": {"role": "seer"},
    }
    game = game_of([(who, "Hello there") for who in spoken], players, eliminations=(Elimination(player="Seer"),))
    store = Store(":memory:")
    add_evaluated(store, game, source_name="telling.json")
    blind = store.blind.get(game.id)
    # "Speaker 1" is somebody's own name, so the numbers begin with 2.
    assert [message.speaker for message in blind.messages] == [
        "Speaker 2", "Speaker 3", "Speaker 1", "Speaker 4", "Speaker 2",
    ]  # fmt: skip
    assert blind.eliminations[0].player == "Speaker 4"
    store.close()
