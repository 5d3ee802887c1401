"""Background jobs as every page shows them: how far, at what cost, how they ended, cancelled and gone on with."""

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import progress_text
from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.store import JobState, Store
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import wait_for_jobs
from tests.judge_server import JudgeServer, plausible_answer
from tests.waiting import wait_until


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


_PRICES = "local-model:\n  input: 100\n  output: 100\n"


class Gate:
    """Lets the server answer as often as the test says."""

    def __init__(self) -> None:
        self._turns = threading.Semaphore(0)
        self._is_open = threading.Event()

    def answer(self, body: dict[str, Any]) -> str:
        if not self._is_open.is_set():
            self._turns.acquire(timeout=60)
        return plausible_answer(body)

    def let(self, answers: int) -> None:
        self._turns.release(answers)

    def open(self) -> None:
        self._is_open.set()
        self._turns.release(1_000)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def model(gate: Gate, filled: Store, monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[JudgeServer]:
    """A model at an address of its own, asked one question at a time."""
    (tmp_path / "pricing.yaml").write_text(_PRICES, encoding="utf-8")
    filled.settings.set(SETTINGS_KEY, {"model": "local-model", "concurrency": 1})
    with JudgeServer(content=gate.answer).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DRAMATURG_PRICING", str(tmp_path / "pricing.yaml"))
        yield server
        gate.open()
        wait_for_jobs()


def test_a_run_shows_progress_and_cost_and_stops_with_what_was_answered(
    open_page, filled: Store, model: JudgeServer, gate: Gate, words
) -> None:
    app = open_page("agents", agent="alpha", evaluate="true")
    assert "Answers come from this judge (live):" in words(app)
    app.toggle(key="batched_personas").set_value(False)
    app.button(key="start_personas").click().run()
    assert not app.exception
    [job] = filled.jobs.list()

    gate.let(1)
    wait_until(lambda: filled.jobs.get(job.id).done >= 1)
    app = open_page("agents", agent="alpha", evaluate="true")
    assert not app.exception
    # 0.0001 USD a token: one answer costs some cents. The next call may be under way.
    assert [one.value for one in app.text if re.fullmatch(r"(1 call|2 calls), \$0\.0*[1-9]\d*, .* left", one.value)]

    app.button(key=f"cancel_job_{job.id}").click().run()
    assert not app.exception
    assert filled.jobs.get(job.id).is_cancel_requested

    def has_stopped() -> bool:
        # One at a time: all at once might be over before the job looks whether it was cancelled.
        gate.let(1)
        return filled.jobs.get(job.id).state is not JobState.RUNNING

    wait_until(has_stopped)
    gate.open()
    stopped = filled.jobs.get(job.id)
    assert stopped.state is JobState.CANCELLED
    assert stopped.done < stopped.total
    # What was answered is kept, so going on asks only for the rest.
    assert 0 < _kept(filled) < stopped.total


def _kept(store: Store) -> int:
    with store.unit() as cursor:
        return cursor.execute("SELECT count(*) FROM judgements").fetchall()[0][0]


@pytest.mark.parametrize("is_still_there", [True, False])
def test_the_result_opens_by_itself_for_who_stayed_where_they_started_it(
    open_page, filled: Store, model: JudgeServer, gate: Gate, is_still_there: bool
) -> None:
    app = open_page("agents", agent="alpha", evaluate="true")
    app.multiselect(key="run_agents").set_value(["bravo"])
    app.button(key="start_personas").click().run()
    assert not app.exception
    if not is_still_there:
        app.query_params["agents"] = "Checks"
        app.run()
    gate.open()
    wait_until(lambda: filled.jobs.list()[0].state is JobState.DONE)
    app.run()
    assert not app.exception
    assert app.query_params["agent"] == ("bravo" if is_still_there else "alpha")
