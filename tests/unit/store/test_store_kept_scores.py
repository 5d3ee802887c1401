"""Scores that are kept: whatever changes, a store that has read them before answers as one that reads them anew."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.ratings import Rating
from evaluation.score import RowVerdict
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.controls import compute_missing
from evaluation.workflows.reports import stored_board
from evaluation.workflows.scoring import add_evaluated, current_outcomes

COUNT = 7


def game(number: int) -> Transcript:
    said = [("Ann", f"I think Ben lied about the vote {number}"), ("Ben", "Ann, why do you say that about me?")] * 3
    return Transcript(
        game_id=f"game {number}",
        source_format="native",
        players=(Player(name="Ann", role="mafia"), Player(name="Ben", role="doctor")),
        messages=tuple(
            Message(id=f"m{place}", index=place, round=1, speaker=who, text=text)
            for place, (who, text) in enumerate(said)
        ),
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "kept.duckdb")
    store.iterations.create("one")
    store.iterations.create("two", parent="one")
    for number in range(COUNT):
        add_evaluated(store, game(number), source_name="f", iteration="one" if number % 2 else None)
    return store


def answers(store: Store) -> tuple[str, object, object, object]:
    return store.results.scores().to_json(), store.results.metric_scores(), current_outcomes(store), stored_board(store)


def override(store: Store) -> None:
    row = store.results.load(game(1).id)["coherence"].ledger[0]
    store.overrides.add(game(1).id, "coherence", row.id, RowVerdict.EXCLUDED, author="Ada", reason="not an answer")


def rename(store: Store) -> None:
    store.transcripts.rename(game(1).id, "Another name")


CHANGES: dict[str, Callable[[Store], object]] = {
    "a rating": lambda store: store.ratings.add(Rating(game(1).id, "Ada", 5)),
    "an override": override,
    "a decision of a lead": lambda store: (
        store.ratings.add(Rating(game(2).id, "Ada", 1)),
        store.ratings.add(Rating(game(2).id, "Ben", 5)),
        store.engagement_decisions.add(game(2).id, 4, who="Lead", reason="read it"),
    ),
    "a new game": lambda store: add_evaluated(store, game(COUNT), source_name="f", iteration="two"),
    "a deleted game": lambda store: store.deletions.delete([game(1).id], who="Lead"),
    "a game in another iteration": lambda store: store.iterations.assign(game(1).id, "two"),
    "another name": rename,
    "another threshold": lambda store: store.settings.set_threshold("coherence", 1.0),
    "controls": lambda store: compute_missing(store, [game(1).id]),
}


def test_a_transaction_sees_its_own_changes_and_leaves_nothing_behind_when_it_fails(store: Store) -> None:
    before = answers(store)

    def rate_and_fail() -> None:
        with store.unit(write=True):
            store.ratings.add(Rating(game(1).id, "Ada", 5))
            assert answers(store) != before
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rate_and_fail()
    assert answers(store) == before


def test_what_another_process_changes_while_the_file_is_closed_is_seen(store: Store) -> None:
    before = answers(store)
    store.close()
    code = f"""from evaluation.ratings import Rating
from evaluation.store import Store
Store({str(store.path)!r}).ratings.add(Rating({game(1).id!r}, "Ada", 5))"""
    subprocess.run([sys.executable, "-c", code], check=True)
    after = answers(store)
    assert after == answers(Store(store.path))
    assert after != before


@pytest.mark.parametrize("what", CHANGES)
def test_after_any_change_kept_scores_are_those_of_a_store_that_reads_them_anew(store: Store, what: str) -> None:
    before = answers(store)
    CHANGES[what](store)
    after = answers(store)
    assert after == answers(Store(store.path))
    assert after != before


def test_games_that_did_not_change_are_not_read_again(store: Store) -> None:
    before = store.results.metric_scores()
    store.ratings.add(Rating(game(1).id, "Ada", 5))
    after = store.results.metric_scores()
    assert [key for key in after if after[key] is not before[key]] == [game(1).id]
    assert store.results.scores()["transcript_id"].drop_duplicates().tolist() == store.transcripts.ids()


def test_who_changes_the_table_changes_nobody_elses(store: Store) -> None:
    table = store.results.scores()
    table["score"] = -1.0
    assert (store.results.scores()["score"].dropna() >= 0).all()


def test_the_progress_of_several_raters_is_that_of_each(store: Store) -> None:
    ids = [game(number).id for number in range(COUNT)]
    store.ratings.add(Rating(ids[0], "Plain", 3))
    store.ratings.add(Rating(ids[0], "Assigned", 3))
    store.rating_assignments.add([(ids[0], "Assigned"), (ids[1], "Assigned")], who="Lead")
    found = store.rating_queue.progress_of(["Plain", "Assigned", "Nobody"])
    assert found == {name: store.rating_queue.progress(name) for name in found}
    assert (found["Plain"].rated, found["Plain"].total, found["Plain"].assigned) == (1, COUNT, 0)
    one = found["Assigned"]
    assert (one.rated, one.assigned, one.waiting, one.total) == (1, 2, 1, COUNT)
    assert found["Nobody"].left == COUNT
