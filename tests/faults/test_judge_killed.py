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

COUNT = 100
CONCURRENCY = 10
ROOT = Path(__file__).parents[2]


def claim(body: dict[str, Any]) -> str:
    found = re.search(r"Claim (\d+)\.", str(body["messages"][-1]["content"]))
    assert found is not None
    return f"claim {found[1]}"


def start(url: str, database: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.faults.judge_run", url, str(database), str(COUNT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_what_comes_while_another_process_holds_the_database_is_paid_for_once(tmp_path: Path) -> None:
    database = tmp_path / "judged.duckdb"
    Store(database).settings.set("made", True)
    with JudgeServer(latency_seconds=0.02, prompt_of=claim).in_thread() as server:
        with start(server.url, database) as first:
            wait_until(lambda: len(server.tally.asked) > 0)
            with Store(database).unit(write=True):
                wait_until(lambda: len(server.tally.asked) >= 80)
                first.kill()
                first.wait()
        with start(server.url, database) as second:
            output, imported_late = second.communicate()
        assert second.returncode == 0
        twice = [subject for subject, times in server.tally.asked.items() if times > 1]
    assert output.count(";scored;") == COUNT
    # The client was prepared: the first answer did not wait for what litellm imports with it.
    late = [name for name in imported_late.split() if name.startswith(("litellm.proxy", "tiktoken", "openai", "httpx"))]
    assert late == []
    # What litellm freezes is let go of at the end: DuckDB would report it as leaked.
    assert "nanobind:" not in imported_late
    # What was under way when the process died is asked again, and nothing else.
    assert len(twice) <= CONCURRENCY
    with Store(database).unit() as cursor:
        assert cursor.execute("SELECT count(*) FROM judgements").fetchall() == [(COUNT,)]
        assert cursor.execute("SELECT count(*) FROM llm_calls").fetchall() == [(COUNT,)]
    assert [path.name for path in tmp_path.glob(".*")] == []


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)
