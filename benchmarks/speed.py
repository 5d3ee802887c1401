"""Speed and memory beside what is wanted: ``python -m benchmarks.speed`` (ten minutes).

All figures depend on the machine and on what else it does: to compare two versions, run it in both checkouts by turns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import generate
from benchmarks.table import Row, print_table, status_mb
from evaluation.engines.scoring import evaluate_transcript
from evaluation.readers import read_path
from evaluation.rubric.controls import compute_controls
from evaluation.rubric.reader.model import SHIPPED
from evaluation.store import Store
from evaluation.workflows.scoring import Tally, evaluate_paths

REAL_GAMES = [Path("tests/data", name) for name in ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")]
RUNS = 3
GIANT = 20_000
"""About how many messages the giant game has; a round of another generated game has 20 on average."""

WANTED_REAL_SECONDS, WANTED_REAL_MB = 5.0, 300.0
WANTED_GAME_MS, WANTED_GAME_MS_OF_TWO, WANTED_IMPORT_MB = 40.0, 22.0, 400.0
WANTED_MESSAGES, WANTED_CONTROLS_SECONDS, WANTED_LONG_CONTROLS_SECONDS = 2_500, 0.3, 3.0
WANTED_HELP_SECONDS, WANTED_HEALTH_SECONDS, WANTED_PERSONA_SECONDS = 0.3, 3.0, 20.0


class Measurement(NamedTuple):
    """Time and memory of one import.

    Attributes:
        transcripts: How many were read, scored and stored.
        messages: How many messages they hold together.
        seconds: Wall time from the first file to the last stored result, after imports.
        cpu_seconds: Processor time of this process and of those that help it over the same stretch.
        peak_mb, left_mb: Largest resident memory, and what is left once the database is closed, in 10^6 bytes.
    """

    transcripts: int
    messages: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    left_mb: float


def measure_in_fresh_process(*paths: Path, jobs: int = 1, runs: int = RUNS) -> Measurement:
    """The import of median time of the games at ``paths``, each into a new database that is thrown away."""
    found = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "benchmarks.speed", "--one", f"{folder}/b.duckdb", str(jobs)]
            done = subprocess.run([*command, *map(str, paths)], stdout=subprocess.PIPE, text=True, check=True)
        found.append(Measurement(*json.loads(done.stdout).values()))
    return sorted(found, key=lambda one: one.seconds)[runs // 2]


def measure(database: str, jobs: int, paths: list[Path]) -> Measurement:
    """Reads, scores and stores the games at ``paths`` as ``dramaturg import`` does; exits where one of them fails."""
    importlib.import_module("duckdb")
    store = Store(database)
    tally = Tally(note=lambda remark: print(remark, file=sys.stderr))
    games = messages = 0
    start, cpu_start = time.perf_counter(), sum(os.times()[:4])
    for each in evaluate_paths(paths, tally, store=store, jobs=jobs):
        if each.failures:
            raise SystemExit(each.failures[0].traceback)
        games += 1
        messages += len(each.transcript.messages)
    seconds, cpu_seconds = time.perf_counter() - start, sum(os.times()[:4]) - cpu_start
    if tally.refused:
        raise SystemExit(f"{tally.refused} of the files could not be read.")
    store.close()
    return Measurement(games, messages, seconds, cpu_seconds, status_mb("VmHWM"), status_mb("VmRSS"))


def imports() -> Iterator[Row]:
    """Time and memory of the real games, of generated ones by number and processes, and of a giant one."""
    one = measure_in_fresh_process(*REAL_GAMES)
    what = f"{one.transcripts} real games, files to stored results"
    yield Row.limited(f"{what}, median of {RUNS} runs", one.seconds, WANTED_REAL_SECONDS, " s")
    yield Row.limited(f"{what}, peak resident memory", one.peak_mb, WANTED_REAL_MB, " MB", 0)
    for size, jobs in ((1_000, 2), (1_000, 1), (10_000, 1)):
        with tempfile.TemporaryDirectory() as folder:
            generate.write(Path(folder), size)
            one = measure_in_fresh_process(Path(folder), jobs=jobs, runs=RUNS if size <= 1_000 else 1)
        what = f"{size:,} generated games of 60 messages, processes: {jobs}"
        wanted = WANTED_GAME_MS if jobs == 1 else WANTED_GAME_MS_OF_TWO
        yield Row.limited(f"{what}, each", 1000 * one.seconds / size, wanted, " ms", 1)
        yield Row("  the same in processor time", f"{1000 * one.cpu_seconds / size:.1f} ms")
        yield Row.limited("  peak resident memory", one.peak_mb, WANTED_IMPORT_MB, " MB", 0)
    with tempfile.TemporaryDirectory() as folder:
        one = measure_in_fresh_process(_write_long(Path(folder), GIANT), runs=1)
    yield Row(f"one game of {one.messages:,} messages", f"{one.seconds:.1f} s ({one.cpu_seconds:.1f} s of processor)")
    yield Row.limited("  peak resident memory", one.peak_mb, WANTED_IMPORT_MB, " MB", 0)
    yield Row.limited("  memory left afterwards", one.left_mb, WANTED_IMPORT_MB, " MB", 0)


def commands() -> Iterator[Row]:
    """Median waiting times for the help text, the dashboard's health endpoint and the personas' recorded answers."""
    from tests.dashboard_server import dramaturg, serving

    def seconds(*arguments: str, database: str = "") -> float:
        start = time.perf_counter()
        environment = {**os.environ, "DRAMATURG_DB": database}
        subprocess.run([dramaturg(), *arguments], check=True, capture_output=True, env=environment)
        return time.perf_counter() - start

    helped = statistics.median(seconds("--help") for _ in range(9))
    yield Row.limited("dramaturg --help, median of 9", helped, WANTED_HELP_SECONDS, " s")
    started, personas = [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            with serving(Path(folder) / "serve.duckdb") as server:
                started.append(server.seconds_to_health)
            personas.append(seconds("persona", "run", database=f"{folder}/persona.duckdb"))
    what = f"dramaturg serve until the health endpoint answers, median of {RUNS}"
    yield Row.limited(what, statistics.median(started), WANTED_HEALTH_SECONDS, " s")
    what = f"dramaturg persona run, recorded answers of the shipped cast, median of {RUNS}"
    yield Row.limited(what, statistics.median(personas), WANTED_PERSONA_SECONDS, " s")


def scoring() -> Iterator[Row]:
    """Median processor time of the six metrics of the real games, and of all controls of a short and a long game."""
    from benchmarks.labelled_games import load_games

    seconds = partial(timeit.repeat, number=1, repeat=RUNS, timer=time.thread_time)
    games = [game for _, game in load_games()]
    for reader, what in ((None, "by rules alone"), (SHIPPED, f"with the reader, {WANTED_MESSAGES:,} wanted")):
        taken = statistics.median(seconds(lambda reader=reader: [evaluate_transcript(g, reader=reader) for g in games]))
        speed = sum(len(game.discussion) for game in games) / taken
        yield Row(f"six metrics of real messages {what}", f"{speed:,.0f} a second")
    with tempfile.TemporaryDirectory() as folder:
        (long,) = read_path(_write_long(Path(folder), 500))
    short = min(games, key=lambda game: abs(len(game.discussion) - 60))
    for game, limit in ((short, WANTED_CONTROLS_SECONDS), (long.transcript, WANTED_LONG_CONTROLS_SECONDS)):
        taken = seconds(partial(compute_controls, game, evaluate_transcript(game).metrics))
        what = f"all controls of a game of {len(game.discussion)} messages, processor time, median of {RUNS}"
        yield Row.limited(what, statistics.median(taken), limit, " s")


def _write_long(folder: Path, messages: int) -> Path:
    (document,) = generate.generate(1, seed=3, rounds=5, pace=messages // 100)
    (folder / "long.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def main() -> None:
    """Measures and prints the table, or one run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument(
        "--one", nargs="+", metavar="DATABASE JOBS PATH", help="one import, as JSON, in a process of its own"
    )
    given = parser.parse_args()
    if given.one:
        database, jobs, *paths = given.one
        print(json.dumps(measure(database, int(jobs), [Path(path) for path in paths])._asdict()))
        return
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    print_table([*commands(), *scoring(), *imports()])


if __name__ == "__main__":
    main()
