"""Mixed load from 20 clients on one server: ``python -m benchmarks.soak [--minutes 60] [--games 300]``.

Twelve raters submit forms over the websocket that browsers use, five readers open the Review page again and again, and
a command line judges against a judge's server on loopback. It ends by
itself. Printed are errors, the server's memory in each tenth of the time, how long forms took until the server said
that they are saved, and how much of the processor the server and the clients beside it took.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from benchmarks.generate import write
from benchmarks.judge_server import JudgeServer
from benchmarks.rating_session import rating_session
from benchmarks.startup import Serving, dramaturg, serving
from benchmarks.table import Row, print_table
from evaluation.store import Store

WANTED_SECONDS = 1.0
WANTED_GROWTH = 0.10
_TENTHS = 10
_LOOKS = 20


@dataclass(frozen=True, slots=True)
class Load:
    """Clients that use a server at the same time; one more asks a judge.

    Attributes:
        raters: How many submit forms, each at least one.
        readers: How many open the Review page again and again.
        pause_seconds: The shortest and the longest pause of a rater or reader.
    """

    raters: int = 12
    readers: int = 5
    pause_seconds: tuple[float, float] = (3.0, 9.0)


DEFAULT_LOAD = Load()


@dataclass
class Soaked:
    """Measurements of a soak.

    Attributes:
        saved: Seconds until the server said that a form is saved, for each form.
        comments: The comments of these forms; each must be stored once.
        read: How often a reader's page was drawn.
        judged: How many runs of the judge ended.
        errors: A sentence for each error.
        memory: Bytes of the server's memory, looked at twenty times in each tenth of the time, the mean of each tenth.
        server_cpu: Processor time of the server under load, in seconds.
        clients_cpu: The same of this process: all clients but the judging command line, and the judge's server.
        seconds: How long the load lasted.
        lost: How many saved forms are not stored, or stored twice.
    """

    saved: list[float] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    read: int = 0
    judged: int = 0
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    server_cpu: float = 0.0
    clients_cpu: float = 0.0
    seconds: float = 0.0
    lost: int = 0

    @property
    def slowest_percentile(self) -> float:
        """The time that 99 % of the forms did not exceed, in seconds; 0 without forms."""
        return sorted(self.saved)[int(0.99 * (len(self.saved) - 1))] if self.saved else 0.0


def soak(folder: Path, seconds: float, games: int, load: Load = DEFAULT_LOAD) -> Soaked:
    """Put a server under load.

    Args:
        folder: Where its database and its log lie.
        seconds: How long.
        games: How many games the database begins with.
        load: The clients.
    """
    found, database = Soaked(), folder / "soak.duckdb"
    (folder / "games").mkdir()
    write(folder / "games", games)
    asyncio.run(_command(found, "import", str(folder / "games"), "--db", str(database)))
    log = folder / "server.log"
    judge = JudgeServer(latency_seconds=0.05)
    with judge.in_thread() as judging, serving(database, log=log) as server:
        asyncio.run(_run(found, load, server, judging.url, database, seconds))
    if "Traceback" in log.read_text("utf-8", "replace"):
        found.errors.append("The server's log holds a traceback.")
    store = Store(database)
    stored = list(store.ratings.all()["comment"])
    store.close()
    found.lost = sum(stored.count(comment) != 1 for comment in found.comments)
    return found


async def _run(found: Soaked, load: Load, server: Serving, judge: str, database: Path, seconds: float) -> None:
    url, begin = server.url, time.monotonic()
    end = begin + seconds
    process, own = psutil.Process(server.process), psutil.Process()
    before = _cpu_seconds(process), _cpu_seconds(own)
    clients: list[Awaitable[None]] = [_watch_memory(found, process, seconds), _judge(found, judge, database, end)]
    clients += [_rate(found, load, url, f"Rater {number}", end) for number in range(load.raters)]
    clients += [_read(found, load, url, f"Reader {number}", end) for number in range(load.readers)]
    for outcome in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(outcome, BaseException):
            found.errors.append(f"A client ended early: {type(outcome).__name__}: {outcome}")
    found.server_cpu, found.clients_cpu = _cpu_seconds(process) - before[0], _cpu_seconds(own) - before[1]
    found.seconds = time.monotonic() - begin


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _watch_memory(found: Soaked, server: psutil.Process, seconds: float) -> None:
    # Between one look and the next the memory changes by a tenth: with the database, which is open or given to another
    # process, and with Python's collector.
    for _ in range(_TENTHS):
        seen = []
        for _ in range(_LOOKS):
            await asyncio.sleep(seconds / _TENTHS / _LOOKS)
            seen.append(server.memory_info().rss)
        found.memory.append(round(statistics.mean(seen)))


async def _rate(found: Soaked, load: Load, url: str, rater: str, end: float) -> None:
    pace = Random(rater)
    async with rating_session(url, rater) as page:
        is_first = True
        while is_first or time.monotonic() < end:
            is_first = False
            await asyncio.sleep(pace.uniform(*load.pause_seconds))
            if page.desk is None:
                if page.refusal:
                    found.errors.append(f"{rater} saw instead of a game: {page.refusal}")
                # Games keep coming, so there is one to rate again.
                await page.open()
                continue
            token, start = page.desk.token, time.perf_counter()
            await page.submit(pace.randint(1, 5), comment=f"{rater} {token}")
            if page.kept is None or page.kept[0] != token:
                seconds, told = time.perf_counter() - start, page.desk and page.desk.data["error"]
                found.errors.append(f"A form of {rater} was not said to be saved after {seconds:.1f} s: {told}")
            else:
                found.saved.append(page.kept[1] - start)
                found.comments.append(f"{rater} {token}")


async def _read(found: Soaked, load: Load, url: str, reader: str, end: float) -> None:
    pace = Random(reader)
    while time.monotonic() < end:
        async with rating_session(url, reader) as page:
            found.read += 1
            if page.refusal:
                found.errors.append(f"{reader} saw instead of a game: {page.refusal}")
        await asyncio.sleep(pace.uniform(*load.pause_seconds))


async def _judge(found: Soaked, url: str, database: Path, end: float) -> None:
    options = [
        "--dimensions",
        "fluency",
        "--mode",
        "live",
        "--model",
        "local",
        "--base-url",
        url,
        "--db",
        str(database),
    ]
    agents = [f"agent-{name}" for name in ("zulu", "delta", "sierra", "victor")]
    while (left := end - time.monotonic()) > 0:
        with suppress(TimeoutError):
            agent = agents[found.judged % len(agents)]
            await asyncio.wait_for(_command(found, "persona", "run", "--agents", agent, *options), left)
            found.judged += 1
            await asyncio.sleep(10)


async def _command(found: Soaked, *arguments: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(dramaturg(), *arguments, stdout=pipe, stderr=pipe)
    try:
        _, told = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        found.errors.append(f"{' '.join(arguments[:2])} ended with {process.returncode}: {told.decode()[-300:]}")


def rows(found: Soaked) -> list[Row]:
    """The lines of the table."""
    # A server that ended early was not looked at often enough.
    growth = 100 * (found.memory[-1] / found.memory[1] - 1) if len(found.memory) == _TENTHS else math.inf
    megabytes = ", ".join(f"{each / 2**20:.0f}" for each in found.memory)
    counts = f"{len(found.saved)} / {found.read} / {found.judged}"
    return [
        Row("forms saved / pages read / runs judged", counts),
        Row.limited("errors", len(found.errors), 0, "", 0),
        Row.limited("forms lost or stored twice", found.lost, 0, "", 0),
        Row.limited("a form is saved, slowest percentile", found.slowest_percentile, WANTED_SECONDS, " s"),
        Row("memory of the server, mean of each tenth of the time", f"{megabytes} MB"),
        Row.limited("  growth, second tenth to last", growth, 100 * WANTED_GROWTH, " %", 1),
        Row(
            "processor, server / clients and the judge's server",
            f"{found.server_cpu / found.seconds:.2f} / {found.clients_cpu / found.seconds:.2f} of {os.cpu_count()}",
        ),
        Row("load of the machine, latest minute", f"{os.getloadavg()[0]:.1f}"),
    ]


def main() -> int:
    """Prints the table; 1 when something is not as wanted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--games", type=int, default=300, help="how many games the database begins with")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = soak(Path(folder), given.minutes * 60, given.games)
    lines = rows(found)
    print_table(lines)
    print(*found.errors[:10], sep="\n")
    return int(any(line.met == "NO" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
