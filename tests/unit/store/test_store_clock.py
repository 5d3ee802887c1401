"""A clock that is set back: what was done later still counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.ratings import import_ratings
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


def counting(store: Store, transcript: Transcript = ONE) -> dict[str, int]:
    """The score that counts of each rater, which every way of asking gives alike."""
    latest = {rating.rater: rating.score for rating in store.ratings.latest(transcript.id)}
    table = store.ratings.all()
    rows = table[table["is_latest"] & (table["transcript_id"] == transcript.id)]
    assert dict(zip(rows["rater"], rows["score"], strict=True)) == latest
    for rater, score in latest.items():
        (own,) = [one.score for one in store.ratings.by_rater(rater) if one.transcript_id == transcript.id]
        assert own == score
    mean = sum(latest.values()) / len(latest)
    assert store.results.load(transcript.id)["engagement"].score == mean
    scores = store.results.scores().set_index(["transcript_id", "metric"])["score"]
    assert scores[transcript.id, "engagement"] == mean
    with store.unit() as cursor:
        found = cursor.execute("SELECT score FROM engagement WHERE transcript_id = ?", [transcript.id]).fetchall()
    assert found == [(mean,)]
    return latest


def test_a_revision_counts_though_the_clock_was_set_back(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    store.ratings.add(Rating(ONE.id, "Bob", 1, created_at=NOW))
    store.ratings.add(Rating(ONE.id, "Ada", 5, created_at=NOW))
    assert counting(store) == {"Ada": 5, "Bob": 1}
    assert [rating.score for rating in store.ratings.history(ONE.id)] == [2, 1, 5]


def test_the_latest_revision_stands_first_among_ones_own(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    store.ratings.add(Rating(TWO.id, "Ada", 3, created_at=NOW))
    assert [rating.transcript_id for rating in store.ratings.by_rater("Ada")] == [TWO.id, ONE.id]


def test_a_sheet_says_what_holds_now_though_the_clock_was_set_back(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=FAST))
    assert import_ratings(store, b"game,rater,score\none,Ada,5\n").added == 1
    assert counting(store) == {"Ada": 5}
    # The same sheet again says nothing new.
    assert import_ratings(store, b"game,rater,score\none,Ada,5\n").added == 0


def test_what_a_sheet_dates_before_the_rating_that_counts_is_history(store: Store) -> None:
    store.ratings.add(Rating(ONE.id, "Ada", 2, created_at=NOW))
    sheet = "game,rater,score,rated_at\none,Ada,5,2025-01-31T14:05:00+00:00\none,Ada,4,2025-01-30T14:05:00+00:00\n"
    assert import_ratings(store, sheet.encode()).added == 2
    assert counting(store) == {"Ada": 2}
    sheet = "game,rater,score,rated_at\ntwo,Ada,5,2025-01-31T14:05:00+00:00\ntwo,Ada,4,2025-01-30T14:05:00+00:00\n"
    import_ratings(store, sheet.encode())
    assert counting(store, TWO) == {"Ada": 5}
    store.ratings.add(Rating(TWO.id, "Ada", 1, created_at=datetime(2024, 1, 1, tzinfo=UTC)))
    assert counting(store, TWO) == {"Ada": 1}


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
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE drafts SET updated_at = ? WHERE token = ?", [FAST, store.ratings.token("Ada", ONE.id)])
    assert store.rating_queue.next_unrated("Ada") == TWO.id
    assert store.drafts.save(store.ratings.token("Ada", ONE.id), 2, {"score": 4})
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE drafts SET updated_at = ? WHERE token = ?", [FAST, store.ratings.token("Ada", TWO.id)])
    assert store.rating_queue.next_unrated("Ada") == ONE.id


def test_the_run_made_last_is_the_latest(store: Store) -> None:
    plan = EvaluationPlan([Dimension.FLUENCY])
    first, last = (store.evaluations.begin(Agent("ann", "Ann"), plan) for _ in range(2))
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET created_at = ? WHERE id::text = ?", [FAST, first])
        cursor.execute("UPDATE evaluation_runs SET status = 'completed'")
    assert list(store.evaluations.runs()["run_id"]) == [first, last]
    assert list(store.evaluations.latest()["run_id"]) == [last]
    assert store.evaluations.newest() == store.evaluations.runs()["position"].max()
