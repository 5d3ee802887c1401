"""A Dask cluster of real processes: a scheduler with two workers."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.faults.kills import kill_all

_PATIENCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class DaskCluster:
    """A Dask scheduler and two workers, in processes of their own."""

    address: str
    scheduler: psutil.Process


@contextmanager
def dask_cluster(folder: Path, port: int) -> Iterator[DaskCluster]:
    """Starts a cluster whose scheduler gives a task up as soon as it has killed one worker."""
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    common: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    address = f"tcp://127.0.0.1:{port}"
    python = [sys.executable, "-m"]
    scheduler = [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    worker = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--local-directory", str(folder)]
    processes = [subprocess.Popen([*scheduler, "--no-dashboard"], cwd=folder, **common)]
    try:
        wait_until_open(port)
        processes.append(subprocess.Popen([*worker, "--nworkers", "2", "--no-dashboard"], cwd=folder, **common))
        yield DaskCluster(address, psutil.Process(processes[0].pid))
    finally:
        for process in reversed(processes):
            if process.poll() is None:
                kill_all(process.pid)
            process.wait()


def wait_until_open(port: int) -> None:
    """Returns once a process listens on a port of loopback."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return
