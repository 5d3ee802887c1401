"""Games that wait for a job, and jobs that go on."""

from datetime import UTC, datetime, timedelta

import pytest

from evaluation.errors import ConflictError, NotFoundError
from evaluation.store import JobState, Store
from evaluation.store._jobs import SILENCE_OF_OTHER_HOSTS, may_run, this_process
from tests.games import discussion


def abandon(store: Store) -> None:
    """Makes every job that of a process that has ended: the same number, but started at another time."""
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE jobs SET owner = owner || '1'")


def test_games_wait_until_they_are_scored(store: Store) -> None:
    games = [(discussion([("Ann", f"Hello number {number}.")]), f"café{number}.json") for number in range(3)]
    store.import_queue.put("job", games, "v1")
    store.import_queue.put("other", games[:1], None)
    assert store.import_queue.waiting("job") == [0, 1, 2]
    assert store.import_queue.get("job", 1) == (games[1][0], "café1.json", "v1")
    store.import_queue.remove("job", 1)
    assert store.import_queue.waiting("job") == [0, 2]
    with pytest.raises(NotFoundError, match="No game 2 waits"):
        store.import_queue.get("job", 1)
    store.import_queue.clear("job")
    assert store.import_queue.waiting("job") == []
    assert store.import_queue.waiting("other") == [0]


def test_an_interrupted_job_goes_on_where_it_was(store: Store) -> None:
    job = store.jobs.create("evaluate", "Games", 120, is_exclusive=True)
    store.jobs.update(job.id, done=30)
    store.jobs.cancel(job.id)
    abandon(store)
    assert [one.id for one in store.jobs.interrupted()] == [job.id]
    taken = store.jobs.take_over(job.id)
    assert (taken.state, taken.done, taken.total) == (JobState.RUNNING, 30, 120)
    assert (taken.resumed_done, taken.owner, taken.is_cancel_requested) == (30, this_process(), False)
    assert taken.resumed_at is not None
    assert taken.resumed_at >= taken.created_at
    assert store.jobs.interrupted() == []


def test_only_what_has_stopped_early_is_taken_over_and_only_once(store: Store) -> None:
    job = store.jobs.create("evaluate", "Games", 2)
    with pytest.raises(ConflictError, match="Games is running"):
        store.jobs.take_over(job.id)
    abandon(store)
    store.jobs.take_over(job.id)
    with pytest.raises(ConflictError, match="Games is running"):
        store.jobs.take_over(job.id)
    store.jobs.update(job.id, state=JobState.DONE)
    with pytest.raises(ConflictError, match="Games is done"):
        store.jobs.take_over(job.id)


def test_work_that_counts_from_the_beginning_again_had_nothing_done_when_it_went_on(store: Store) -> None:
    job = store.jobs.create("samples", "Games", 18)
    store.jobs.update(job.id, done=10)
    abandon(store)
    assert store.jobs.take_over(job.id).resumed_done == 10
    assert store.jobs.update(job.id, done=0).resumed_done == 0
    assert store.jobs.update(job.id, done=5).resumed_done == 0


def test_a_failed_job_may_be_tried_again_unless_another_runs(store: Store) -> None:
    failed = store.jobs.create("evaluate", "Old games", 2)
    store.jobs.update(failed.id, state=JobState.FAILED, message="The disk is full.")
    other = store.jobs.create("evaluate", "New games", 1)
    with pytest.raises(ConflictError, match="running already"):
        store.jobs.take_over(failed.id)
    store.jobs.update(other.id, state=JobState.DONE)
    taken = store.jobs.take_over(failed.id)
    assert (taken.state, taken.message, taken.finished_at) == (JobState.RUNNING, "", None)


def test_a_heartbeat_from_the_future_and_an_odd_owner_are_no_signs_of_life() -> None:
    now = datetime.now(UTC)
    assert not may_run("elsewhere:1:2", now + SILENCE_OF_OTHER_HOSTS + timedelta(seconds=1))
    host = this_process().rsplit(":", 2)[0]
    for owner in ("", "nobody", "::", f"{host}:x:1", f"{host}:99999999:", f"{host}:²:1"):
        assert not may_run(owner, now), owner


def test_cancelling_ends_a_job_that_is_silent_and_asks_one_that_reports(store: Store) -> None:
    for heartbeat, state in (
        ("now() - INTERVAL 16 MINUTE", "cancelled"),
        ("TIMESTAMPTZ '2999-01-01'", "cancelled"),
        ("now()", "running"),
    ):
        job = store.jobs.create("evaluate", "Games", 2)
        with store.unit(write=True) as cursor:
            cursor.execute(f"UPDATE jobs SET heartbeat = {heartbeat} WHERE job_id = ?", [job.id])
        store.jobs.cancel(job.id)
        found = store.jobs.get(job.id)
        assert (found.state, found.is_cancel_requested) == (state, True)
        assert (found.finished_at is None) == (state == "running")
