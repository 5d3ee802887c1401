"""Files to stored results: ``python -m benchmarks.pipeline DATABASE JOBS PATH...`` prints a JSON measurement.

The measurement runs in a process of its own, so that neither memory nor warm caches of another run enter it.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.memory import peak_mb, resident_mb
from evaluation.store import Store
from evaluation.workflows.scoring import Tally, evaluate_paths


@dataclass(frozen=True, slots=True)
class Measurement:
    """Time and memory of one run.

    Attributes:
        transcripts: How many were read, scored and stored.
        messages: How many messages they hold together.
        seconds: Wall time from the first file to the last stored result, after imports.
        cpu_seconds: Processor time of all threads of this process and of the processes that help it, their start
            included, over the same stretch; other work on the machine lengthens it little.
        peak_mb: Largest resident memory of the process, imports included, in 10^6 bytes.
        left_mb: Resident memory of the process once the database is closed, in 10^6 bytes.
    """

    transcripts: int
    messages: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    left_mb: float


def measure_in_fresh_process(*paths: Path, jobs: int = 1) -> Measurement:
    """Measures an import of the games at ``paths`` into a database that is thrown away.

    Args:
        paths: Where the games are.
        jobs: How many processes score.

    Raises:
        RuntimeError: The run failed; holds what it wrote to standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.pipeline", f"{folder}/bench.duckdb", str(jobs), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return Measurement(**json.loads(done.stdout))


def store_results(paths: Sequence[Path], store: Store, jobs: int = 1) -> tuple[int, int]:
    """Reads, scores and stores the games at ``paths`` as ``dramaturg import`` does; how many games and messages."""
    games = messages = 0
    tally = Tally(note=lambda remark: print(remark, file=sys.stderr))
    for each in evaluate_paths(paths, tally, store=store, jobs=jobs):
        if each.evaluation.failures:
            raise SystemExit(each.evaluation.failures[0].traceback)
        games += 1
        messages += len(each.evaluation.transcript.messages)
    if tally.refused:
        raise SystemExit(f"{tally.refused} of the files could not be read.")
    return games, messages


def _import_what_loads_late() -> None:
    for name in ("duckdb", "evaluation.engines.scoring", "evaluation.readers"):
        importlib.import_module(name)


def _cpu_seconds() -> float:
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + helpers.ru_utime + helpers.ru_stime


def _main(database: str, jobs: str, *paths: str) -> None:
    _import_what_loads_late()
    store = Store(database)
    start, cpu_start = time.perf_counter(), _cpu_seconds()
    games, messages = store_results([Path(path) for path in paths], store, int(jobs))
    seconds, cpu_seconds = time.perf_counter() - start, _cpu_seconds() - cpu_start
    store.close()
    print(json.dumps(asdict(Measurement(games, messages, seconds, cpu_seconds, peak_mb(), resident_mb()))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
