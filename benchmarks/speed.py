"""Speed and memory beside what is wanted: ``python -m benchmarks.speed`` (a quarter of an hour), or with ``--quick``.

``--imports`` measures files to stored results alone: time per game, its slope, two processes, memory, giant games.
Nothing is written into the repository. All figures depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import generate
from benchmarks.label_drawing import load_games
from benchmarks.pipeline import Measurement, measure_in_fresh_process
from benchmarks.scoring import REAL_GAMES, rates
from benchmarks.startup import seconds_to_health, seconds_to_help
from benchmarks.table import Row, print_table
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import compute_controls
from evaluation.transcript import Transcript

REAL_GAME_COUNT = 26
SIZES = (100, 1_000, 10_000)
_GAMES_PER_FOLDER = 10_000
"""A folder of more than 20,000 files is refused."""

QUICK_SIZES = (100, 300, 1_000)
RUNS = 3
GIANTS = (20_000, 50_000)
"""About how many messages the giant games have."""

GIANT_ROUNDS = 5
MESSAGES_OF_ROUND = 20
"""On average, of a game that is generated at its own pace."""

WANTED_SECONDS = 5.0
WANTED_MB = 300.0
WANTED_SLOPE = 1.02
WANTED_GAME_MS = 40.0
WANTED_GAME_MS_OF_TWO = 22.0
WANTED_IMPORT_MB = 400.0
WANTED_LEFT_MB = 400.0
WANTED_CONTROLS_SECONDS = 0.3
WANTED_LONG_CONTROLS_SECONDS = 3.0
WANTED_HELP_SECONDS = 0.3
WANTED_HEALTH_SECONDS = 3.0


def real_games(runs: int = 5) -> Iterator[Row]:
    """Median time of the real games from files to stored results, and the largest memory of all runs."""
    measured = [measure_in_fresh_process(*REAL_GAMES) for _ in range(runs)]
    if measured[0].transcripts != REAL_GAME_COUNT:
        raise SystemExit(f"The test data holds {measured[0].transcripts} games, expected {REAL_GAME_COUNT}.")
    what = f"{REAL_GAME_COUNT} real games, files to stored results"
    seconds = statistics.median(one.seconds for one in measured)
    yield Row.limited(f"{what}, median of {runs} runs", seconds, WANTED_SECONDS, " s")
    yield Row.limited(f"{what}, peak resident memory", max(one.peak_mb for one in measured), WANTED_MB, " MB", 0)


def scale(sizes: tuple[int, ...], runs: int = RUNS) -> Iterator[Row]:
    """Time per number of generated transcripts, and how it grows; large numbers and the largest are measured once."""
    measured = {size: _generated(size, runs if size < min(sizes[-1], SIZES[-1]) else 1) for size in sizes}
    for size, one in measured.items():
        each = 1000 * one.seconds / size
        what = f"{size:,} generated transcripts"
        figures = f"{one.seconds:.1f} s ({one.cpu_seconds:.1f} s of processor)"
        yield Row(f"{what} ({one.messages:,} messages), files to stored results", figures)
        yield Row.limited(f"{what}, one process, each", each, WANTED_GAME_MS, " ms", 1)
        cpu_each = 1000 * one.cpu_seconds / size
        yield Row.limited(f"{what}, one process, each, in processor time", cpu_each, WANTED_GAME_MS, " ms", 1)
        yield Row.limited(f"{what}, peak resident memory", one.peak_mb, WANTED_IMPORT_MB, " MB", 0)
    # What is loaded once flattens the slope from the smallest size; the last step shows the growth by itself.
    for chosen in (sizes, sizes[-2:]):
        what = f"log-log slope from {chosen[0]:,} to {chosen[-1]:,}"
        wall = log_log_slope({size: measured[size].seconds for size in chosen})
        yield Row.limited(what, wall, WANTED_SLOPE, "", 3)
        processor = log_log_slope({size: measured[size].cpu_seconds for size in chosen})
        yield Row.limited(f"{what}, in processor time", processor, WANTED_SLOPE, "", 3)


def two_processes(size: int, runs: int = RUNS) -> Iterator[Row]:
    """Time per generated transcript where two processes score, and the largest memory of the one that stores."""
    one = _generated(size, runs, jobs=2)
    what = f"{size:,} generated transcripts, two processes"
    yield Row.limited(f"{what}, each", 1000 * one.seconds / size, WANTED_GAME_MS_OF_TWO, " ms", 1)
    # Two processors that do nothing else could not be quicker.
    half = 1000 * one.cpu_seconds / size / 2
    yield Row(f"{what}, each, half of the processor time of all processes", f"{half:.1f} ms")
    yield Row.limited(f"{what}, peak resident memory of the first", one.peak_mb, WANTED_IMPORT_MB, " MB", 0)


def giant_games(sizes: tuple[int, ...] = GIANTS) -> Iterator[Row]:
    """Memory of importing one game of very many messages, and what of it the process still has afterwards."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            (document,) = generate.generate(1, rounds=GIANT_ROUNDS, pace=round(size / MESSAGES_OF_ROUND / GIANT_ROUNDS))
            path = Path(folder) / "giant.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            one = measure_in_fresh_process(path)
        print(f"{size:,} messages: {one}", file=sys.stderr, flush=True)
        what = f"one game of {one.messages:,} messages"
        yield Row(f"{what}, files to stored results", f"{one.seconds:.1f} s ({one.cpu_seconds:.1f} s of processor)")
        yield Row(f"{what}, peak resident memory", f"{one.peak_mb:.0f} MB")
        yield Row.limited(f"{what}, memory left afterwards", one.left_mb, WANTED_LEFT_MB, " MB", 0)


def _generated(size: int, runs: int, jobs: int = 1) -> Measurement:
    """The run with the median time; it tells its progress on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for number, start in enumerate(range(0, size, _GAMES_PER_FOLDER)):
            parts.append(Path(folder) / f"{number}")
            parts[-1].mkdir()
            generate.write(parts[-1], min(_GAMES_PER_FOLDER, size - start), seed=number)
        measured = [measure_in_fresh_process(*parts, jobs=jobs) for _ in range(runs)]
    median = sorted(measured, key=lambda one: one.seconds)[runs // 2]
    print(f"{size:,} transcripts: {median}", file=sys.stderr, flush=True)
    return median


def log_log_slope(seconds: Mapping[int, float]) -> float:
    """The exponent with which time grows with size: 1 is linear. Least squares on the logarithms."""
    sizes = [math.log(size) for size in seconds]
    return statistics.linear_regression(sizes, [math.log(value) for value in seconds.values()]).slope


def startup(help_runs: int = 9, serve_runs: int = 3) -> Iterator[Row]:
    """Median waiting times for the help text and the dashboard's health endpoint."""
    helped = statistics.median(seconds_to_help() for _ in range(help_runs))
    yield Row.limited(f"dramaturg --help, median of {help_runs}", helped, WANTED_HELP_SECONDS, " s")
    healthy = statistics.median(seconds_to_health() for _ in range(serve_runs))
    what = f"dramaturg serve until the health endpoint answers, median of {serve_runs}"
    yield Row.limited(what, healthy, WANTED_HEALTH_SECONDS, " s")


def controls(runs: int = 5) -> Iterator[Row]:
    """Median processor time of all controls of a real game near 60 messages, and of the longest one made up to 500."""
    games = [game for _, game in load_games()]
    near = min(games, key=lambda game: abs(len(game.discussion) - 60))
    longest = max(games, key=lambda game: len(game.discussion))
    for game, limit in ((near, WANTED_CONTROLS_SECONDS), (_of_length(longest, 500), WANTED_LONG_CONTROLS_SECONDS)):
        results = {name: measure(game) for name, measure in SCORERS.items()}
        taken = []
        for _ in range(runs):
            begun = time.thread_time()
            compute_controls(game, results)
            taken.append(time.thread_time() - begun)
        what = f"all controls of a game of {len(game.discussion)} messages, processor time, median of {runs}"
        yield Row.limited(what, statistics.median(taken), limit, " s")


def _of_length(game: Transcript, length: int) -> Transcript:
    """The game's public messages over and over until there are ``length``."""
    messages = [
        game.discussion[place % len(game.discussion)].model_copy(update={"index": place, "id": f"m{place}"})
        for place in range(length)
    ]
    return Transcript(
        game_id=game.game_id,
        source_format=game.source_format,
        players=game.players,
        messages=tuple(messages),
        votes=game.votes,
        eliminations=game.eliminations,
    )


def main(arguments: list[str]) -> None:
    """Measures everything and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="Prints speed and memory.")
    parser.add_argument("--quick", action="store_true", help="100, 300 and 1,000 generated transcripts, not 10,000")
    parser.add_argument("--imports", action="store_true", help="files to stored results alone")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="other numbers of transcripts, rising")
    parser.add_argument(
        "--runs", type=int, default=RUNS, help="of sizes below 10,000 but the largest; the median counts"
    )
    given = parser.parse_args(arguments)
    if given.sizes and len(given.sizes) < 2:
        parser.error("--sizes: a slope needs two numbers at least")
    sizes = tuple(given.sizes) if given.sizes else QUICK_SIZES if given.quick else SIZES
    load = f"load {os.getloadavg()[0]:.1f}"
    print(
        f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} processors, {load}\n", flush=True
    )
    rows = [] if given.imports else [*rates(), *startup(), *controls(), *real_games()]
    print_table([*rows, *scale(sizes, given.runs), *two_processes(sizes[1], given.runs), *giant_games()])


if __name__ == "__main__":
    main(sys.argv[1:])
