"""A Dask scheduler that goes while a run connects, waits for workers or asks for them."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest
from distributed import LocalCluster

from evaluation.engines.task_engines import run_on_cluster
from evaluation.errors import InfrastructureError
from tests.dashboard_server import free_port
from tests.dask_cluster import wait_until_open

Scheduler: TypeAlias = tuple[subprocess.Popen[bytes], str]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    """A scheduler without workers, and its address."""
    port = free_port()
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, "--no-dashboard"], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        wait_until_open(port)
        yield process, f"tcp://127.0.0.1:{port}"
        process.kill()


def kill_when_connected(process: subprocess.Popen[bytes], address: str, connections: int) -> None:
    port = int(address.rpartition(":")[2])
    end = time.monotonic() + 20
    while process.poll() is None:
        assert time.monotonic() < end
        held = [one for one in psutil.Process().net_connections("tcp4") if one.raddr and one.raddr.port == port]
        if len(held) >= connections:
            process.kill()
        time.sleep(0.001)


def run(
    address: str, inputs: Iterable[str] = ("1",), do: Callable[[str], object] = len, **seconds: float
) -> Iterator[tuple[str, object]]:
    return run_on_cluster(do, inputs, split=lambda task: [task], scheduler=address, **seconds)


@pytest.mark.parametrize("connections", [1, 2])
def test_a_scheduler_that_goes_before_there_is_a_worker_is_named(
    scheduler: Scheduler, connections: int, capfd: pytest.CaptureFixture[str]
) -> None:
    process, address = scheduler
    killer = threading.Thread(target=kill_when_connected, args=(process, address, connections))
    killer.start()
    with pytest.raises(InfrastructureError) as lost:
        list(run(address, connect_seconds=2))
    killer.join()
    assert str(lost.value).startswith(address)
    assert "Traceback" not in capfd.readouterr().err


def test_a_scheduler_to_which_no_worker_comes_is_named(scheduler: Scheduler) -> None:
    _, address = scheduler
    with pytest.raises(InfrastructureError, match=r"no worker for 0\.2 s") as failed:
        list(run(address, patience=0.2))
    assert f"dask worker {address}" in str(failed.value)


def test_a_scheduler_that_goes_while_the_next_input_is_read_is_named(scheduler: Scheduler, tmp_path: Path) -> None:
    process, address = scheduler
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]

    def inputs() -> Iterator[str]:
        yield "1"
        process.kill()
        # Longer than the client looks for it, so that the client has given up and is closed.
        time.sleep(3)
        yield "2"

    with subprocess.Popen([*command, "--no-dashboard"], cwd=tmp_path, stderr=subprocess.DEVNULL) as worker:
        with pytest.raises(InfrastructureError, match="scheduler was lost"):
            list(run(address, inputs(), connect_seconds=1))
        worker.kill()


def test_what_a_task_raises_is_not_taken_for_a_lost_scheduler() -> None:
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        pytest.raises(FileNotFoundError, match="/nowhere/1"),
    ):
        list(run(cluster.scheduler_address, ["/nowhere/1"], os.listdir))
