"""Print the dashboard's page times beside what is wanted: ``python -m benchmarks.pages`` (some minutes for the games).

Measured on a store of 1,000 games with 100,000 messages, or with ``--copies 10`` on one where each stands ten times.
Server time is that of a rerun of the whole page, beyond that of an empty one; the browser is Chromium with the
application loaded once before. All figures depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import big_store
from benchmarks.browsing import browse
from benchmarks.startup import serving
from benchmarks.table import Row, print_table
from evaluation.ratings import Rating
from evaluation.store import Store

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

RUNS = 7
SEARCH = '"voted for"'
ENTRY = Path(__file__).parents[1] / "dashboard" / "app.py"

WANTED_RERUN = 0.5
WANTED_SEARCH = 0.5

_EMPTY_PAGE = "import streamlit as st\nst.title('Empty', anchor=False)\n"


def reruns(database: Path, long: Mapping[int, str], only: Sequence[str] = ()) -> Iterator[Row]:
    """Server time of a rerun of every page beyond that of an empty one, with its data read and after a change of it.

    Args:
        database: The store.
        long: The ids of the long games by about how many messages they have.
        only: Names of the pages to measure; none for all.
    """
    os.environ["DRAMATURG_DB"] = str(database)
    _, empty = _runs(None, {})
    yield Row("rerun of an empty page, median", str(empty))
    for name, (page, parameters) in _pages(database, long).items():
        if only and name not in only:
            continue
        print(f"{name}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
        _, warm = _runs(page, parameters)
        warm = warm.beyond(empty)
        met = "yes" if warm.seconds <= WANTED_RERUN else "NO"
        yield Row(f"rerun of {name}, median of {RUNS}, beyond it", str(warm), f"<= {WANTED_RERUN} s", met)
        _, cold = _runs(page, parameters, is_cold=True)
        cold = cold.beyond(empty)
        met = "yes" if cold.seconds <= WANTED_RERUN else "NO"
        yield Row("  the same, first run after another rating was stored", str(cold), f"<= {WANTED_RERUN} s", met)


@dataclass(frozen=True, slots=True)
class Run:
    """Time of a run of a page.

    Attributes:
        seconds: Wall time.
        cpu_seconds: Processor time of all threads; other work on the machine lengthens it little.
    """

    seconds: float
    cpu_seconds: float

    def beyond(self, other: Run) -> Run:
        """The time beyond that of another run, at least zero."""
        return Run(max(0.0, self.seconds - other.seconds), max(0.0, self.cpu_seconds - other.cpu_seconds))

    def __str__(self) -> str:
        return f"{self.seconds:.3f} s ({self.cpu_seconds:.3f} s of processor)"


def _pages(database: Path, long: Mapping[int, str]) -> dict[str, tuple[str, dict[str, str]]]:
    store = Store(database)
    first = str(store.transcripts.summaries()["transcript_id"].iloc[0])
    store.close()
    pages = {
        path.parent.name: (path.parent.name, {}) for path in sorted((ENTRY.parent / "app_pages").glob("*/page.py"))
    }
    pages["review"] = ("review", {"rater": "Ada"})
    pages["review, raters by games"] = ("review", {"rater": "Ada", "view": "Team"})
    pages["transcripts, searching"] = ("transcripts", {"search": SEARCH})
    pages["transcript"] = ("transcripts", {"transcript": first})
    for messages, transcript_id in long.items():
        pages[f"transcript of {messages:,}"] = ("transcripts", {"transcript": transcript_id})
        pages[f"ledger of {messages:,}"] = ("transcripts", {"transcript": transcript_id, "show": "Ledger"})
    return pages


def _runs(page: str | None, parameters: Mapping[str, str], *, is_cold: bool = False) -> tuple[Run, Run]:
    """The first run, and the median of those after it: ``RUNS`` reruns, or three, each after a rating was stored."""
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    app = AppTest.from_file(str(ENTRY), default_timeout=1_000) if page else AppTest.from_string(_EMPTY_PAGE)
    for name, value in parameters.items():
        app.query_params[name] = value
    if page and page != "overview":
        # Before its first run AppTest takes addresses from file names, where every page's file is called page.py.
        app._page_hash = calc_hash(page)
    first = _timed(app)
    if app.exception:
        raise SystemExit(f"{page} {parameters}: {app.exception[0].message}")
    if page and page != "overview" and [one.value for one in app.title] == ["Overview"]:
        raise SystemExit(f"Instead of {page} the Overview opened, so its times would be measured.")
    later = []
    for _ in range(3 if is_cold else RUNS):
        if is_cold:
            _change(Path(os.environ["DRAMATURG_DB"]))
        later.append(_timed(app))
    return first, Run(*(statistics.median(getattr(one, kind) for one in later) for kind in ("seconds", "cpu_seconds")))


def _timed(app: AppTest) -> Run:
    start, cpu_start = time.perf_counter(), time.process_time()
    app.run()
    return Run(time.perf_counter() - start, time.process_time() - cpu_start)


def _change(database: Path) -> None:
    """Store one more rating: pages keep what they read until the file changes, and most of it until a game does."""
    store = Store(database)
    store.ratings.add(Rating(store.transcripts.ids()[0], "Benchmark", 3, token=uuid.uuid4().hex))


def searching(database: Path) -> Row:
    """How long the library takes to find a phrase in all messages, the file open."""
    store = Store(database)
    times = []
    with store.unit():
        for _ in range(RUNS):
            start = time.perf_counter()
            found = store.messages.search(SEARCH)
            times.append(time.perf_counter() - start)
        messages = int(store.transcripts.summaries()["messages"].sum())
    store.close()
    what = f"{SEARCH} among {messages:,} messages ({found.total:,} found), median of {RUNS}"
    return Row.limited(what, statistics.median(times), WANTED_SEARCH, " s", 3)


def measure(
    database: Path, long: Mapping[int, str], *, with_browser: bool = True, only: Sequence[str] = ()
) -> Iterator[Row]:
    """Every line of the table, or those of the server alone, or of some pages alone."""
    if not only:
        yield searching(database)
    yield from reruns(database, long, only)
    if only or not with_browser:
        return
    with serving(database) as server:
        yield from browse(server, long)


def main(arguments: list[str]) -> None:
    """Measures everything and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description="Prints the pages' times.")
    parser.add_argument("--store", type=Path, help="keep the database here, or use the one that is here")
    parser.add_argument("--copies", type=int, default=1, help="how many times each game stands in a new database")
    parser.add_argument("--no-browser", action="store_true", help="only what the server takes")
    parser.add_argument("--only", nargs="+", default=(), metavar="PAGE", help="these pages, without a browser")
    given = parser.parse_args(arguments)
    chosen = given.store
    print(f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} processors\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        database = chosen or Path(folder) / "pages.duckdb"
        if not database.exists():
            big_store.build(database, given.copies)
        long = big_store.long_games(database)
        print_table(list(measure(database, long, with_browser=not given.no_browser, only=given.only)))


if __name__ == "__main__":
    main(sys.argv[1:])
