"""Background jobs as every page shows them: how far, how they ended, and how an interrupted one goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import progress_text
from evaluation.store import JobState
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import wait_for_jobs


def abandon(store, job, *, done: int) -> None:
    """Leaves the job as a killed server does: some games done, the row as if it still ran."""
    for position in store.import_queue.waiting(job.id)[:done]:
        transcript, source_name, iteration = store.import_queue.get(job.id, position)
        add_evaluated(store, transcript, source_name=source_name, iteration=iteration)
        store.import_queue.remove(job.id, position)
    store.jobs.update(job.id, done=done)
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE jobs SET owner = owner || '1'")


@pytest.fixture
def interrupted(store, small_game):
    """A job of five games whose server died after two of them."""
    store.iterations.create("v1")
    job = store.jobs.create(jobs.EVALUATE, "Scoring uploaded games", 5, is_exclusive=True)
    store.import_queue.put(job.id, [(small_game(f"g{n}"), f"g{n}.json") for n in range(5)], "v1")
    abandon(store, job, done=2)
    return job


def test_an_interrupted_job_can_be_left(open_page, store, interrupted, words) -> None:
    app = open_page()
    app.button(key=f"leave_job_{interrupted.id}").click().run()
    assert not app.exception
    assert "interrupted" not in words(app)
    assert store.jobs.get(interrupted.id).state is JobState.CANCELLED
    assert store.import_queue.waiting(interrupted.id) == []
    assert len(store.transcripts.summaries()) == 2


def test_pressing_it_in_two_tabs_starts_it_once(open_page, store, interrupted) -> None:
    first, second = open_page("games", part="Add"), open_page("trends")
    first.button(key=f"go_on_{interrupted.id}").click().run()
    second.button(key=f"go_on_{interrupted.id}").click().run()
    wait_for_jobs()
    assert not second.exception
    assert "did not start" in second.toast[0].value
    assert store.jobs.get(interrupted.id).done == 5
    assert len(store.transcripts.summaries()) == 5


def test_an_iteration_that_is_gone_loses_no_game(store, interrupted) -> None:
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE spool SET iteration = 'gone'")
    jobs.go_on(store, interrupted.id)
    wait_for_jobs()
    assert store.jobs.get(interrupted.id).state is JobState.DONE
    assert len(store.transcripts.summaries()) == 5


def test_a_job_that_knows_nothing_of_its_rest_says_to_start_again(open_page, store, words) -> None:
    job = store.jobs.create("evaluate", "Scoring uploaded games", 5)
    abandon(store, job, done=0)
    app = open_page()
    assert "The rest is not known any more" in words(app)
    assert f"go_on_{job.id}" not in [button.key for button in app.button]


def test_the_time_left_of_a_resumed_job_counts_from_where_it_went_on(store) -> None:
    job = store.jobs.create("evaluate", "Games", 120)
    store.jobs.update(job.id, done=30)
    with store.unit(write=True) as cursor:
        # Begun an hour ago, of which it was dead for most.
        cursor.execute("UPDATE jobs SET owner = owner || '1', created_at = now() - INTERVAL 1 HOUR")
    resumed = store.jobs.take_over(job.id)
    assert progress_text(resumed, datetime.now(UTC)) == "Games: 30 of 120"
    further = store.jobs.update(job.id, done=40)
    # 10 games in 20 s are 2 s a game; 80 games are left.
    assert progress_text(further, resumed.resumed_at + timedelta(seconds=20)) == "Games: 40 of 120, about 3 min left"
