"""How quickly judgements come: ``python -m benchmarks.judging``, or with ``--peers`` beside Inspect and DeepEval.

All against a local server that answers after 50 ms, with 20 calls under way, as median of five runs. Every run is a
process of its own. All figures depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from benchmarks import judging_peers
from benchmarks.judging_run import Measurement
from benchmarks.table import Row, print_table

LATENCY_SECONDS = 0.05
CONCURRENCY = 20
RUNS = 5
ALONE = 500
BATCHED = 2_000
WARM = 1_000
PEER_COUNT = 200

WANTED_ALONE = 100.0
WANTED_BATCHED = 1_000.0
WANTED_WARM_SECONDS = 1.0
WANTED_MB = 350.0


@contextmanager
def served() -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.judge_server", "--latency", str(LATENCY_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def measured(url: str, database: Path, mode: str, count: int) -> Measurement:
    """One run in a fresh process.

    Raises:
        RuntimeError: The run failed; holds what it wrote to standard error.
    """
    command = [sys.executable, "-m", "benchmarks.judging_run", url, str(database), mode, str(count), str(CONCURRENCY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return Measurement(**json.loads(done.stdout))


def rows(url: str, runs: int = RUNS) -> Iterator[Row]:
    """The table, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        alone = [measured(url, Path(folder) / f"alone{run}.duckdb", "alone", ALONE) for run in range(runs)]
        batched = [measured(url, Path(folder) / f"batch{run}.duckdb", "batch", BATCHED) for run in range(runs)]
        known = Path(folder) / "known.duckdb"
        measured(url, known, "batch", WARM)
        warm = [measured(url, known, "batch", WARM) for _ in range(runs)]
    yield _at_least(f"individual calls a second, {ALONE} judgements", _median(alone), WANTED_ALONE)
    most = min(one.most_in_flight for one in alone)
    yield Row("calls really under way, seen by the server", str(most), str(CONCURRENCY), _yes(most == CONCURRENCY))
    yield _at_least(f"judgements a second in batches of ten, {BATCHED:,} judgements", _median(batched), WANTED_BATCHED)
    seconds = statistics.median(one.process_seconds for one in warm)
    yield Row.limited(f"warm re-run of {WARM:,} judgements, start included", seconds, WANTED_WARM_SECONDS, " s")
    wall = statistics.median(one.wall_seconds for one in warm)
    yield Row("the same as wall time", f"{wall:.2f} s")
    is_light = not any(one.has_litellm or one.calls for one in warm)
    yield Row("warm re-run imports litellm or calls a model", "no" if is_light else "yes", "no", _yes(is_light))
    peak = max(one.peak_mb for one in [*alone, *batched, *warm])
    yield Row.limited("peak resident memory", peak, WANTED_MB, " MB", 0)
    cpu = statistics.median(1000 * one.judging_cpu_seconds / one.judgements for one in alone)
    yield Row("processor time of an individual call, its connection included", f"{cpu:.1f} ms")


def peers(url: str, runs: int = RUNS) -> Iterator[Row]:
    """Individual calls beside those of Inspect and DeepEval."""
    with tempfile.TemporaryDirectory() as folder:

        def ours() -> float:
            return _median([measured(url, Path(folder) / f"{token_hex(4)}.duckdb", "alone", PEER_COUNT)])

        yield from judging_peers.rows(url, ours, PEER_COUNT, CONCURRENCY, runs)


def _median(runs: Sequence[Measurement]) -> float:
    return statistics.median(one.judgements / one.judging_seconds for one in runs)


def _at_least(what: str, value: float, wanted: float) -> Row:
    return Row(what, f"{value:.0f}", f">= {wanted:.0f}", _yes(value >= wanted))


def _yes(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def main(arguments: list[str]) -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description="Prints the speed of judging.")
    parser.add_argument("--peers", action="store_true", help="run Inspect and DeepEval on the same server, too")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of which the median counts")
    chosen = parser.parse_args(arguments)
    print(f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} processors\n", flush=True)
    if chosen.peers:
        judging_peers.install()
    with served() as url:
        print_table(list(peers(url, chosen.runs) if chosen.peers else rows(url, chosen.runs)))


if __name__ == "__main__":
    main(sys.argv[1:])
