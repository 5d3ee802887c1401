"""A clock that is set back: what was done later still counts; sheets: test_rating_sheet.py."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.unit.store.small_games import game

NOW = datetime.now(UTC)
FAST = NOW + timedelta(hours=3)


ONE, TWO = game("one"), game("two")


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(":memory:")
    for each in (ONE, TWO):
        made.transcripts.add(each, source_name=each.game_id)
    yield made
    made.close()


def counting(store: Store) -> dict[str, int]:
    """The score that counts of each rater, which every way of asking gives alike."""
    latest = {rating.rater: rating.score for rating in store.ratings.latest(ONE.id)}
    table = store.ratings.all()
    rows = table[table["is_latest"] & (table["transcript_id"] == ONE.id)]
    assert dict(zip(rows["rater"], rows["score"], strict=True)) == latest
    for rater, score in latest.items():
        (own,) = [one.score for one in store.ratings.by_rater(rater) if one.transcript_id == ONE.id]
        assert own == score
    mean = sum(latest.values()) / len(latest)
    assert store.results.load(ONE.id)["engagement"].score == mean
    scores = store.results.scores().set_index(["transcript_id", "metric"])["score"]
    assert scores[ONE.id, "engagement"] == mean
    with store.unit() as cursor:
        found = cursor.execute("SELECT score FROM engagement WHERE transcript_id = ?", [ONE.id]).fetchall()
    assert found == [(mean,)]
    return latest


def test_a_revision_counts_and_stands_first_though_the_clock_was_set_back(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    store.ratings.add(Rating(ONE.id, "Bob", 1, created_at=NOW))
    store.ratings.add(Rating(ONE.id, "Ada", 5, created_at=NOW))
    store.ratings.add(Rating(TWO.id, "Ada", 3, created_at=NOW - timedelta(hours=1)))
    assert counting(store) == {"Ada": 5, "Bob": 1}
    assert [rating.score for rating in store.ratings.history(ONE.id)] == [2, 1, 5]
    assert [rating.transcript_id for rating in store.ratings.by_rater("Ada")] == [TWO.id, ONE.id]


def test_ratings_that_were_deleted_come_back_as_they_counted(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    store.ratings.add(Rating(ONE.id, "Ada", 5, created_at=NOW))
    store.ratings.add_many([Rating(ONE.id, "Ada", 3, created_at=NOW - timedelta(days=1))])
    deletion = store.deletions.delete([ONE.id], who="Eve")
    store.deletions.undo(deletion.id, who="Eve")
    assert counting(store) == {"Ada": 5}


def test_the_form_touched_last_is_on_the_desk_first(store: Store) -> None:
    for each in (ONE, TWO):
        assert store.drafts.save(store.ratings.token("Ada", each.id), 1, {"score": 3})
    for earlier, later in ((ONE, TWO), (TWO, ONE)):
        token = store.ratings.token("Ada", earlier.id)
        with store.unit(write=True) as cursor:
            cursor.execute("UPDATE drafts SET updated_at = ? WHERE token = ?", [FAST, token])
        assert store.rating_queue.next_unrated("Ada") == later.id
        assert store.drafts.save(token, 2, {"score": 4})


def test_the_run_made_last_is_the_latest(store: Store) -> None:
    plan = EvaluationPlan([Dimension.FLUENCY])
    first, last = (store.evaluations.begin(Agent("ann", "Ann"), plan) for _ in range(2))
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET created_at = ? WHERE id::text = ?", [FAST, first])
        cursor.execute("UPDATE evaluation_runs SET status = 'completed'")
    assert list(store.evaluations.runs()["run_id"]) == [first, last]
    assert list(store.evaluations.latest()["run_id"]) == [last]
    assert store.evaluations.newest() == store.evaluations.runs()["position"].max()
