"""Many raters at one dashboard: ``python -m benchmarks.raters`` (``--store FILE`` takes a store of before).

Twenty open Review pages on a real server, over the websocket that browsers use, on a store of 1,000 games: each rater
submits every few seconds, which is faster than anybody reads; all submit at the same moment; and all submit every form
twice. Printed are how long a form takes until its rater reads that it is saved, which the server says after the commit
and never before; how long until the next game is on the desk; and whether what is stored afterwards is what was sent:
every form once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import big_store
from benchmarks.rating_session import RatingSession, rating_session
from benchmarks.startup import serving
from benchmarks.table import Row, print_table
from evaluation.store import Store

RATERS = 20
ROUNDS = 5
WANTED_SECONDS = 0.5
PACE_SECONDS = 6.0
"""How long a rater works on a game, at least."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that was sent.

    Attributes:
        seconds: Until the answer came that it is saved.
        seconds_to_next: Until the next game was drawn completely.
    """

    rater: str
    token: str
    seconds: float
    seconds_to_next: float


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of forms that were sent."""

    sent: int
    lost: int
    duplicated: int
    foreign: int


async def submit_all(
    url: str, raters: Sequence[str], rounds: int = 1, *, times: int = 1, pace: float = 0.0
) -> list[Sent]:
    """Opens a page for every rater and lets all of them submit.

    Args:
        url: The server's.
        raters: Their names.
        rounds: How many forms each of them submits.
        times: How many times each form is sent before its answer comes.
        pace: Seconds between two forms of a rater, the raters spread over it; 0: all at the same moment.
    """
    async with AsyncExitStack() as open_pages:
        pages = [(name, await open_pages.enter_async_context(rating_session(url, name))) for name in raters]
        sent: list[Sent] = []
        for _ in range(rounds):
            waits = [pace * place / len(pages) for place in range(len(pages))]
            forms = [_submit(name, page, times, wait) for (name, page), wait in zip(pages, waits, strict=True)]
            sent += await asyncio.gather(*forms)
    return sent


async def _submit(rater: str, page: RatingSession, times: int, wait: float) -> Sent:
    await asyncio.sleep(wait)
    assert page.desk is not None
    token = page.desk.token
    start = time.perf_counter()
    answer = await page.submit(3, comment=token, times=times)
    to_next = time.perf_counter() - start
    if answer is not None and answer.token == token:
        raise RuntimeError(f"The form of {rater} was not acknowledged.")
    # Where the server was so fast that its answer came with the next game, that is when the rater reads it.
    to_answer = page.kept[1] - start if page.kept is not None and page.kept[0] == token else to_next
    return Sent(rater, token, to_answer, to_next)


def tally(store: Store, sent: Sequence[Sent]) -> Tally:
    """Counts the forms that are not stored, stored more than once, or stored under somebody else's name."""
    ratings = store.ratings.all()
    kept = ratings[ratings["rater"].isin({form.rater for form in sent})]
    by_comment = kept.groupby("comment")["rater"].agg(list).to_dict()
    found = [by_comment.get(form.token, []) for form in sent]
    pairs = kept.duplicated(["transcript_id", "rater"]).sum()
    return Tally(
        sent=len(sent),
        lost=sum(not raters for raters in found),
        duplicated=sum(max(0, len(raters) - 1) for raters in found) + int(pairs),
        foreign=sum(any(name != form.rater for name in raters) for form, raters in zip(sent, found, strict=True)),
    )


def rows(database: Path) -> list[Row]:
    """The lines of the table, measured on this database, which is changed."""
    names = [f"Rater {number}" for number in range(1, RATERS + 1)]
    with serving(database) as server:
        asyncio.run(submit_all(server.url, ["Somebody before"]))
        paced = asyncio.run(submit_all(server.url, [f"{name}, paced" for name in names], ROUNDS, pace=PACE_SECONDS))
        at_once = asyncio.run(submit_all(server.url, names, ROUNDS))
        twice = asyncio.run(submit_all(server.url, [f"{name}, twice" for name in names], times=2))
    store = Store(database)
    counted = tally(store, [*paced, *at_once, *twice])
    store.close()
    found = (("lost", counted.lost), ("stored twice", counted.duplicated), ("under another name", counted.foreign))
    return [
        *_timed(f"a form is saved, {RATERS} raters with one every {PACE_SECONDS:g} s each, median", paced),
        *_timed(f"a form is saved, {RATERS} raters at the same moment, median", at_once),
        Row("forms sent", str(counted.sent)),
        *(Row.limited(f"  {what}", count, 0, "", 0) for what, count in found),
    ]


def _timed(what: str, sent: Sequence[Sent]) -> list[Row]:
    to_next = [form.seconds_to_next for form in sent]
    return [
        Row.limited(what, statistics.median(form.seconds for form in sent), WANTED_SECONDS, " s"),
        Row("  the slowest of them", f"{max(form.seconds for form in sent):.2f} s"),
        Row("  the next game is on the desk, median", f"{statistics.median(to_next):.2f} s"),
        Row("  the slowest of them", f"{max(to_next):.2f} s"),
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="a store made by benchmarks.big_store; it is copied")
    given = parser.parse_args().store
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "raters.duckdb"
        if given is None:
            big_store.build(database)
        else:
            shutil.copyfile(given, database)
        print(f"{platform.platform()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before\n")
        print_table(rows(database))


if __name__ == "__main__":
    main()
