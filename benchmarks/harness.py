"""How long the regression harness takes from a cold start: ``python -m benchmarks.harness``.

Everything is timed as CI would: a new process and a new database each time. Nothing is written into the repository.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.startup import dramaturg
from benchmarks.table import Row, print_table

WANTED_MOCK_SECONDS = 20.0
WANTED_UNREACHABLE_SECONDS = 10.0
FINE = 0
UNREACHABLE = 3


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of ``dramaturg persona``: its time, exit code and standard output."""

    seconds: float
    code: int
    printed: bytes


def timed(*arguments: str, seed: str = "0") -> Timed:
    """Runs ``dramaturg persona`` on a new database, with a seed for Python's hashes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"DRAMATURG_DB": str(Path(folder) / "bench.duckdb"), "PYTHONHASHSEED": seed}
        start = time.perf_counter()
        done = subprocess.run([dramaturg(), "persona", *arguments], env=environment, capture_output=True)
        return Timed(time.perf_counter() - start, done.returncode, done.stdout)


def mock(runs: int) -> Iterator[Row]:
    """Recorded answers over the whole shipped cast, and whether every run prints the same bytes."""
    measured = [timed("run", "--format", "json", seed=str(number)) for number in range(runs)]
    seconds = statistics.median(one.seconds for one in measured)
    yield Row.limited(f"mock mode, whole shipped cast, median of {runs} runs", seconds, WANTED_MOCK_SECONDS, " s")
    slowest = max(one.seconds for one in measured)
    yield Row.limited("the slowest of them", slowest, WANTED_MOCK_SECONDS, " s")
    yield _as_wanted("exit codes", sorted({one.code for one in measured}), [FINE])
    yield _as_wanted("different outputs", len({one.printed for one in measured}), 1)


def unreachable() -> Iterator[Row]:
    """A live judge that refuses the connection, one that takes it and says nothing, and one whose name is unknown."""
    with _port(listens=False) as refusing, _port(listens=True) as silent:
        addresses = {"refuses": refusing, "says nothing": silent, "has no address": "http://judge.invalid/v1"}
        for words, address in addresses.items():
            one = timed("run", "--mode", "live", "--base-url", address)
            what = f"live mode, a server that {words}, until the end"
            yield Row.limited(what, one.seconds, WANTED_UNREACHABLE_SECONDS, " s")
            yield _as_wanted(f"exit code, a server that {words}", one.code, UNREACHABLE)


@contextmanager
def _port(*, listens: bool) -> Iterator[str]:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        if listens:
            reserved.listen()
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"


def _as_wanted(what: str, measured: object, wanted: object) -> Row:
    return Row(what, str(measured), str(wanted), "yes" if measured == wanted else "NO")


def main() -> None:
    """Prints the table; exits with 1 when anything is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of mock mode")
    runs = parser.parse_args().runs
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start.")
    rows = [*mock(runs), *unreachable()]
    print_table(rows)
    if any(row.met == "NO" for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
