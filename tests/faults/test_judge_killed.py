"""A run that is killed in the middle goes on later without asking again for what it had."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluation.store import Store
from tests.judge_server import JudgeServer

COUNT = 300
CONCURRENCY = 10
ROOT = Path(__file__).parents[2]


def claim(body: dict[str, Any]) -> str:
    found = re.search(r"Claim (\d+)\.", str(body["messages"][-1]["content"]))
    assert found is not None
    return f"claim {found[1]}"


def start(url: str, database: Path, count: int = COUNT) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.judge_run", url, str(database), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_killed_run_resumes_without_asking_again_for_what_was_received(tmp_path: Path) -> None:
    database = tmp_path / "judged.duckdb"
    with JudgeServer(latency_seconds=0.1, prompt_of=claim).in_thread() as server:
        with start(server.url, database) as first:
            assert first.stdout is not None
            reported = [next(first.stdout).split(";")[0] for _ in range(COUNT // 3)]
            first.kill()
            reported += [line.split(";")[0] for line in first.stdout if line.endswith("\n")]
        assert len(reported) < COUNT
        asked_before = dict(server.tally.asked)
        with start(server.url, database) as second:
            assert second.stdout is not None
            lines = [line.strip().split(";") for line in second.stdout]
            assert second.stderr is not None
            late = second.stderr.read().split()
        assert second.returncode == 0
        asked_after = server.tally.asked
    # The client was prepared: the first answer did not wait for what litellm imports with it.
    assert [name for name in late if name.startswith(("litellm.proxy", "tiktoken", "openai", "httpx"))] == []
    # What litellm freezes is let go of at the end: DuckDB would report it as leaked.
    assert "nanobind:" not in late
    assert sorted(subject for subject, _, _ in lines) == sorted(f"claim {number}" for number in range(COUNT))
    assert {status for _, status, _ in lines} == {"scored"}
    # What was reported was stored before, so it was asked once in both runs together.
    assert {subject for subject in reported if asked_after[subject] != 1} == set()
    cached = {subject for subject, _, is_cached in lines if is_cached == "True"}
    assert set(reported) <= cached
    # Only what was under way when the process died is asked a second time.
    twice = {subject for subject, times in asked_after.items() if times > 1}
    assert len(twice) <= 2 * CONCURRENCY
    assert twice <= set(asked_before) - cached
    with Store(database).unit() as cursor:
        assert cursor.execute("SELECT count(*) FROM judgements").fetchall() == [(COUNT,)]


def test_what_comes_while_another_process_holds_the_database_is_paid_for_once(tmp_path: Path) -> None:
    database, count = tmp_path / "judged.duckdb", 100
    Store(database).settings.set("made", True)
    with JudgeServer(latency_seconds=0.02, prompt_of=claim).in_thread() as server:
        with start(server.url, database, count) as first:
            wait_until(lambda: len(server.tally.asked) > 0)
            with Store(database).unit(write=True):
                wait_until(lambda: len(server.tally.asked) >= 80)
                first.kill()
                first.wait()
        with start(server.url, database, count) as second:
            output, _ = second.communicate()
        assert second.returncode == 0
        twice = [subject for subject, times in server.tally.asked.items() if times > 1]
    assert output.count(";scored;") == count
    # What was under way when the process died is asked again, and nothing else.
    assert len(twice) <= CONCURRENCY
    with Store(database).unit() as cursor:
        assert cursor.execute("SELECT count(*) FROM judgements").fetchall() == [(count,)]
        assert cursor.execute("SELECT count(*) FROM llm_calls").fetchall() == [(count,)]
    assert [path.name for path in tmp_path.glob(".*")] == []


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)
