"""Print what a million and a hundred million games take, from constants measured here and now.

``python -m benchmarks.scale [--games 64]`` scores generated games of about 60 messages to Parquet in one process. Times
are processor time of that process, which other work on the machine lengthens little.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks import generate
from evaluation.files.locations import Location
from evaluation.readers import iter_paths
from evaluation.store import Store
from evaluation.store.corpus import Corpus
from evaluation.workflows.corpora import Collected, CorpusTally, import_corpus, score_to_corpus
from evaluation.workflows.scoring import Tally

SIZES = (1_000_000, 100_000_000)
USD_PER_CORE_HOUR = 0.04
"""Assumed, not measured: about what a rented core costs."""


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=64)
    games = parser.parse_args().games
    with tempfile.TemporaryDirectory() as folder:
        measured = _measure(Path(folder), games)
    print(f"{games} generated games, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for name, value in measured.items():
        print(f"{name:<28} {value:10.2f}")
    score = measured["scoring and writing, ms"]
    for size in SIZES:
        hours = size * score / 3.6e6
        gigabytes = size * measured["Parquet, kB"] / 1e6
        reading = size * measured["reading, ms"] / 3.6e6
        importing = size * measured["importing, ms"] / 3.6e6
        print(
            f"{size:>11,} games: {hours:,.0f} core hours of scoring (about ${hours * USD_PER_CORE_HOUR:,.0f}), "
            f"{gigabytes:,.0f} GB of Parquet, {reading:,.1f} h of reading in one client, "
            f"{importing:,.1f} h of importing"
        )
    print(f"One client keeps about {score / measured['reading, ms']:.0f} workers busy.")


def _measure(folder: Path, games: int) -> dict[str, float]:
    source, output = folder / "games", folder / "out"
    source.mkdir()
    generate.write(source, games)
    each = 1000 / games
    start = time.process_time()
    ids = [result.transcript.id for result in iter_paths([source]) if result.transcript is not None]
    reading = (time.process_time() - start) * each
    start = time.process_time()
    tally = CorpusTally(Tally(note=print))
    assert sum(score_to_corpus([str(source)], str(output), tally)) == len(ids)
    scoring = (time.process_time() - start) * each - reading
    size = sum(path.stat().st_size for path in output.rglob("*.parquet"))
    store = Store(folder / "collected.duckdb")
    start = time.process_time()
    list(import_corpus(str(output), store, Collected()))
    importing = (time.process_time() - start) * each
    store.close()
    files = len(Corpus(Location.of(str(output))).files())
    return {
        "reading, ms": reading,
        "scoring and writing, ms": scoring,
        "importing, ms": importing,
        "Parquet, kB": size / games / 1000,
        "database, kB": (folder / "collected.duckdb").stat().st_size / games / 1000,
        "files": files,
    }


if __name__ == "__main__":
    main()
