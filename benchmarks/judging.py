"""How quickly judgements come: ``python -m benchmarks.judging``, or with ``--peers`` beside DeepEval.

All against a local server that answers after 50 ms, with 20 calls under way, as median of five runs. Every run is a
process of its own. All figures depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from benchmarks.table import Row, print_table, status_mb
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.protocol import JudgeRequest, Prompt
from evaluation.store import Store

CONCURRENCY = 20
ALONE, BATCHED, WARM, BESIDE_PEER = 500, 2_000, 1_000, 200
BATCH = 10
WANTED_ALONE, WANTED_BATCHED, WANTED_WARM_SECONDS, WANTED_MB = 100, 1_000, 1.0, 350.0
WANTED_AGAINST_PEER = 1.3
_PEER = Path(__file__).with_name("peers")
_SYSTEM = "You judge how true a claim about a conversation is, from 0 to 9. " * 8
_SAID = "\n".join(f"[M{n}] Ann: I would rather wait for the others before we decide anything." for n in range(1, 6))


class Measurement(NamedTuple):
    """One run: judgements a second after a warm-up, processor seconds of the whole process, and its largest memory."""

    rate: float
    process_seconds: float
    most_in_flight: int
    calls: int
    peak_mb: float


def measure(url: str, database: str, count: int, batch: int) -> Measurement:
    """Judges ``count`` claims, ``batch`` of them about each context.

    Raises:
        SystemExit: A judgement is missing.
    """
    config = judge_config({"base_url": url, "model": "local-model", "concurrency": CONCURRENCY}, environment={})
    judge = build_judge(config, cache=Store(database).judgements)

    def requests(name: str, count: int) -> list[JudgeRequest]:
        asked = []
        for number in range(count):
            group = f"{name} {number // batch}"
            prompt = Prompt(_SYSTEM, f"Conversation {group}\n{_SAID}", f"Claim {number}: Ann is patient.")
            of_group = {"batch_group": group} if batch > 1 else {}
            asked.append(JudgeRequest("adherence", f"claim {number}", prompt, ScoreAnswer, "v1", {1: "m1"}, **of_group))
        return asked

    async def run() -> float:
        async with judge.session():
            await judge.judge(requests("warm-up", 40))
            start = time.perf_counter()
            judgements = await judge.judge(requests("measured", count))
            seconds = time.perf_counter() - start
        if not all(one.is_scored for one in judgements):
            raise SystemExit(next(one.detail for one in judgements if not one.is_scored))
        return count / seconds

    rate = asyncio.run(run())
    return Measurement(rate, time.process_time(), _most_in_flight(url), judge.budget.calls_made, status_mb("VmHWM"))


def _most_in_flight(url: str) -> int:
    # Imported here: the start of a run that calls nothing is measured, too.
    from urllib.request import urlopen

    with urlopen(f"{url}/tally") as answer:
        return int(json.load(answer)["most_in_flight"])


def measure_in_fresh_process(url: str, database: Path, count: int, batch: int = 1) -> Measurement:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.judging", "--one", url, str(database), str(count), str(batch)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measurement(*json.loads(done.stdout))


@contextmanager
def served() -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "tests.judge_server", "--latency", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def rows(url: str, folder: Path, runs: int) -> Iterator[Row]:
    """Individual calls, batches of ten, and a run whose answers are known."""
    alone = [measure_in_fresh_process(url, folder / f"alone{run}.duckdb", ALONE) for run in range(runs)]
    yield _at_least(f"individual calls a second, {ALONE} judgements", alone, WANTED_ALONE)
    seen = min(one.most_in_flight for one in alone)
    yield Row("calls really under way, seen by the server", str(seen), str(CONCURRENCY), _met(seen == CONCURRENCY))
    batched = [measure_in_fresh_process(url, folder / f"batch{run}.duckdb", BATCHED, BATCH) for run in range(runs)]
    yield _at_least(f"judgements a second in batches of ten, {BATCHED:,} judgements", batched, WANTED_BATCHED)
    measure_in_fresh_process(url, folder / "known.duckdb", WARM, BATCH)
    warm = [measure_in_fresh_process(url, folder / "known.duckdb", WARM, BATCH) for _ in range(runs)]
    seconds = statistics.median(one.process_seconds for one in warm)
    what = f"warm re-run of {WARM:,} judgements, start included, processor time"
    yield Row.limited(what, seconds, WANTED_WARM_SECONDS, " s")
    yield Row.limited("  calls that it makes", max(one.calls for one in warm), 0, "", 0)
    yield Row.limited(
        "peak resident memory", max(one.peak_mb for one in [*alone, *batched, *warm]), WANTED_MB, " MB", 0
    )


def _at_least(what: str, runs: list[Measurement], wanted: float) -> Row:
    value = statistics.median(one.rate for one in runs)
    return Row(what, f"{value:.0f}", f">= {wanted:.0f}", _met(value >= wanted))


def _met(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def peer_rows(url: str, folder: Path, runs: int) -> Iterator[Row]:
    """Individual calls a second beside DeepEval's, each once a round: what else the machine does hits both."""
    from tests.cli.tools import own_environments

    python = own_environments.install(_PEER / "requirements.txt", "bench-peers") / "python"
    command = [str(python), str(_PEER / "deepeval_run.py"), url, str(BESIDE_PEER), str(CONCURRENCY)]
    ours, theirs = [], []
    for _ in range(runs):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if done.returncode:
            raise SystemExit(f"DeepEval failed:\n{done.stderr[-2000:]}")
        theirs.append(float(done.stdout.split()[-1]))
        ours.append(measure_in_fresh_process(url, folder / f"{token_hex(4)}.duckdb", BESIDE_PEER).rate)
    yield Row("Dramaturg, judgements a second", f"{statistics.median(ours):.0f}")
    yield Row("DeepEval, judgements a second", f"{statistics.median(theirs):.0f}")
    ratios = sorted(own / other for own, other in zip(ours, theirs, strict=True))
    median = statistics.median(ratios)
    what = f"Dramaturg against DeepEval ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    yield Row(what, f"{median:.2f} times", f">= {WANTED_AGAINST_PEER:g}", _met(median >= WANTED_AGAINST_PEER))


def main() -> None:
    """Measures and prints the table, or one run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="run DeepEval on the same server, in build/bench-peers")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median counts")
    parser.add_argument("--one", nargs=4, metavar=("URL", "DATABASE", "COUNT", "BATCH"), help="one run, as JSON")
    given = parser.parse_args()
    if given.one:
        url, database, count, batch = given.one
        print(json.dumps(measure(url, database, int(count), int(batch))))
        return
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    with served() as url, tempfile.TemporaryDirectory() as folder:
        print_table([*(peer_rows if given.peers else rows)(url, Path(folder), given.runs)])


if __name__ == "__main__":
    main()
