"""A run with a model, started from the Agents page: progress and cost as it goes, and cancel."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.store import JobState, Store
from tests.app.drawn import wait_for_jobs
from tests.judge_server import JudgeServer, plausible_answer

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


def wait_until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(600):
        if holds():
            return
        pause.wait(0.1)
    raise AssertionError("it did not happen within a minute")


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
    said = words(app)
    assert "Evaluating agents, cost so far:" in said
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
