"""Processes that wait for one file all get it, whatever becomes of those that wait beside them."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from evaluation.store import Store
from tests.unit.store.test_store_processes import BEGIN, HOLD, next_line, running

# Writes its number into a list beside the database while it holds the file.
ARRIVE = BEGIN + (
    "with store.unit():\n    with open(sys.argv[1] + '.order', 'a') as order: print(sys.argv[2], file=order)\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "shared.duckdb"
    Store(made).settings.set("key", 1)
    Store(made).close()
    return made


def is_waiting(process: subprocess.Popen[str], folder: Path) -> bool:
    """Whether the process has said by its lock on the folder that it waits."""
    place = f":{folder.stat().st_ino}"
    return any(
        fields[1] == "FLOCK" and fields[4] == str(process.pid) and fields[5].endswith(place)
        for fields in map(str.split, Path("/proc/locks").read_text().splitlines())
        if len(fields) > 5
    )


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < end
        pause.wait(0.005)


def queue(stack: ExitStack, path: Path, count: int) -> list[subprocess.Popen[str]]:
    """So many processes that wait, each known to wait before the next one comes."""
    waiting = []
    for number in range(count):
        waiting.append(stack.enter_context(running(ARRIVE, path, number)))
        until(lambda: is_waiting(waiting[-1], path.parent))
    return waiting


def release(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()


def order(path: Path) -> list[int]:
    return [int(line) for line in Path(f"{path}.order").read_text().split()]


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    with running(HOLD, path) as holder:
        assert next_line(holder) == "ready"
        yield holder


def test_all_that_wait_get_the_file(path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        waiting = queue(stack, path, 8)
        release(holder)
        assert [process.wait(60) for process in waiting] == [0] * 8
    assert sorted(order(path)) == list(range(8))


def test_whoever_is_killed_while_waiting_holds_nobody_up(path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        waiting = queue(stack, path, 4)
        for killed in (waiting[0], waiting[2]):
            killed.send_signal(signal.SIGKILL)
            killed.wait(10)
        release(holder)
        assert [waiting[1].wait(60), waiting[3].wait(60)] == [0, 0]
    assert sorted(order(path)) == [1, 3]


def test_whoever_is_stopped_while_waiting_is_passed_by(path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        waiting = queue(stack, path, 3)
        waiting[0].send_signal(signal.SIGSTOP)
        release(holder)
        assert [waiting[1].wait(60), waiting[2].wait(60)] == [0, 0]
        waiting[0].send_signal(signal.SIGCONT)
        assert waiting[0].wait(60) == 0
    assert order(path)[-1] == 0


def test_the_queue_leaves_no_files_and_is_another_one_for_each_database(path: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        queue(stack, path, 1)
        assert sorted(one.name for one in tmp_path.iterdir()) == ["shared.duckdb"]
        # Nobody waits for this one.
        started = time.monotonic()
        other = Store(tmp_path / "other.duckdb")
        assert other.settings.get("key") is None
        other.close()
        assert time.monotonic() - started < 30
        assert holder.poll() is None
