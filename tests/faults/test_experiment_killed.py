"""An experiment that is killed goes on when it is run again, and pays for nothing twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.store import JobState, Store
from tests.faults.experiment_run import CONCURRENCY
from tests.stored_rows import llm_calls

ROOT = Path(__file__).parents[2]


def start(database: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.experiment_run", str(database)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def run_to_the_end(database: Path) -> tuple[int, str]:
    """How many calls were made, and the report."""
    with start(database) as process:
        output, _ = process.communicate()
    assert process.returncode == 0
    *calls, report = output.splitlines()
    return len(calls), report


@pytest.mark.long
def test_a_killed_experiment_goes_on_without_paying_twice(tmp_path: Path) -> None:
    killed = tmp_path / "killed.duckdb"
    with start(killed) as first:
        assert first.stdout is not None
        paid = len([next(first.stdout) for _ in range(60)])
        first.kill()
        paid += len(first.stdout.readlines())
    # What came in the last second is in a file, and not in the database yet.
    assert list(tmp_path.glob(".killed.duckdb.*.answers"))
    assert states(killed) == [JobState.INTERRUPTED]
    paid_later, report = run_to_the_end(killed)
    paid_at_once, expected = run_to_the_end(tmp_path / "whole.duckdb")
    assert report == expected
    # Only what was under way when the process died is asked a second time.
    assert 0 <= paid + paid_later - paid_at_once <= CONCURRENCY
    assert calls_logged(killed) == calls_logged(tmp_path / "whole.duckdb") == paid_at_once
    assert states(killed) == [JobState.DONE, JobState.CANCELLED]
    assert not list(tmp_path.glob(".*.answers"))


def states(database: Path) -> list[JobState]:
    store = Store(database)
    found = [job.state for job in store.jobs.list()]
    store.close()
    return found


def calls_logged(database: Path) -> int:
    store = Store(database)
    calls = len(llm_calls(store))
    store.close()
    return calls
