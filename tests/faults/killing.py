"""Start processes of Dramaturg, kill them at a chosen moment, and compare what is stored with what should be."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import psutil

from benchmarks.generate import generate
from evaluation.store import Store

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 300

# For each table the columns that two evaluations of the same game share: no times and no running numbers.
_COLUMNS = {
    "transcripts": "SELECT transcript_id, (game_id, source_format, players, messages) AS row FROM transcripts",
    "messages": "SELECT transcript_id, m AS row FROM messages m",
    "players": "SELECT transcript_id, p AS row FROM players p",
    "votes": "SELECT transcript_id, v AS row FROM votes v",
    "results": "SELECT transcript_id, (metric, version, method, status, score, numerator, denominator) AS row "
    "FROM metric_results",
    "ledger": "SELECT r.transcript_id, (r.metric, l.position, l.row_id, l.verdict, l.numerator, l.reason) AS row "
    "FROM ledger l JOIN metric_results r USING (result_id)",
}

Content = dict[str, dict[str, tuple[int, str]]]
"""For each game and table the number of rows, and a checksum over them."""


@dataclass
class Tally:
    """What was found after processes were killed.

    Attributes:
        kills: How many processes were killed while they worked.
        lost: What a process had acknowledged and is not stored.
        torn: What is stored in part, or what cannot be read.
        doubled: What is stored more often than once, or what was paid for a second time without need.
        remarks: A sentence for each of them.
    """

    kills: int = 0
    lost: int = 0
    torn: int = 0
    doubled: int = 0
    remarks: list[str] = field(default_factory=list)

    def count(self, what: str, found: Iterable[object]) -> None:
        """Adds findings to ``lost``, ``torn`` or ``doubled``."""
        listed = sorted(map(str, found))
        setattr(self, what, getattr(self, what) + len(listed))
        self.remarks += [f"{what}: {one}" for one in listed]

    def add(self, other: Tally) -> None:
        """Adds the counts of another tally."""
        self.kills += other.kills
        for what in ("lost", "torn", "doubled"):
            setattr(self, what, getattr(self, what) + getattr(other, what))
        self.remarks += other.remarks

    @property
    def is_clean(self) -> bool:
        return not self.remarks


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: after so many acknowledgements, and then so many seconds."""

    acknowledged: int
    seconds: float

    @classmethod
    def draw(cls, random: Random, most: int, seconds: float = 0.5, start_seconds: float = 3.0) -> Moment:
        """A moment by chance; one in eight before the first acknowledgement, while the process starts."""
        if random.randrange(8) == 0:
            return cls(0, random.uniform(0, start_seconds))
        return cls(random.randint(1, most), random.uniform(0, seconds))


def command(*arguments: object) -> list[str]:
    """The command line, run by this Python."""
    return [sys.executable, "-m", "evaluation.cli.main", *map(str, arguments)]


@dataclass
class Killed:
    """A process that was started to be killed: its lines, and whether it was killed before it had ended."""

    lines: list[str]
    was_killed: bool
    returncode: int


def run_until(
    arguments: list[str],
    moment: Moment,
    acknowledges: Callable[[str], bool],
    victim: Callable[[psutil.Process], psutil.Process | None] | None = None,
) -> Killed:
    """Runs a command until a moment, and kills it with all that it started.

    Args:
        arguments: The command.
        moment: When.
        acknowledges: Whether a line that it writes, to either stream, acknowledges something.
        victim: Chooses one process of those that it started, which is killed in its place; the command then goes on.
    """
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, errors="replace"
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        missing = moment.acknowledged
        while missing > 0 and (line := process.stdout.readline()):
            lines.append(line)
            missing -= acknowledges(line)
        was_killed = False
        try:
            process.wait(moment.seconds)
        except subprocess.TimeoutExpired:
            chosen = victim(psutil.Process(process.pid)) if victim else None
            if victim is None:
                kill_all(process.pid)
            elif chosen is not None:
                chosen.kill()
            was_killed = victim is None or chosen is not None
        lines += process.stdout.readlines()
        return Killed(lines, was_killed, process.wait(PATIENCE_SECONDS))


@dataclass(frozen=True, slots=True)
class DaskCluster:
    """A Dask scheduler and two workers, in processes of their own."""

    address: str
    scheduler: psutil.Process


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def dask_cluster(folder: Path, port: int) -> Iterator[DaskCluster]:
    """Starts a cluster whose scheduler gives a task up as soon as it has killed one worker."""
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    common: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    address = f"tcp://127.0.0.1:{port}"
    python = [sys.executable, "-m"]
    scheduler = [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    worker = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--local-directory", str(folder)]
    processes = [subprocess.Popen([*scheduler, "--no-dashboard"], cwd=folder, **common)]
    try:
        wait_until_open(port)
        processes.append(subprocess.Popen([*worker, "--nworkers", "2", "--no-dashboard"], cwd=folder, **common))
        yield DaskCluster(address, psutil.Process(processes[0].pid))
    finally:
        for process in reversed(processes):
            if process.poll() is None:
                kill_all(process.pid)
            process.wait()


def wait_until_open(port: int) -> None:
    """Returns once a process listens on a port of loopback."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def kill_all(pid: int) -> None:
    """Kills a process and all that it started, as a machine does that loses its power."""
    try:
        parent = psutil.Process(pid)
        everybody = [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for one in everybody:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(everybody[1:], PATIENCE_SECONDS)


def run_to_the_end(arguments: list[str]) -> str:
    """What a command prints that must succeed; raises ``RuntimeError`` when it does not."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE_SECONDS)
    if done.returncode != 0 or "Traceback" in done.stderr:
        raise RuntimeError(f"{arguments[3:]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def read_content(database: Path) -> Content:
    """Everything about every game, told apart by checksums; {} where there is no database yet.

    Every row of the file is read and every document unpacked, as before a backup.

    Raises:
        DramaturgError: The database cannot be read as a whole.
    """
    if not database.exists():
        return {}
    store = Store(database)
    try:
        copy = database.with_name("checked.duckdb")
        store.backups.write(copy)
        copy.unlink()
        found: Content = {key: {} for key in store.transcripts.ids()}
        with store.unit() as cursor:
            for table, query in _COLUMNS.items():
                rows = f"SELECT transcript_id, count(*), sum(hash(row))::VARCHAR FROM ({query}) GROUP BY transcript_id"
                for key, count, digest in cursor.execute(rows).fetchall():
                    found.setdefault(key, {})[table] = (count, digest)
        return found
    finally:
        store.close()


def compare(tally: Tally, found: Content, wanted: Content) -> None:
    """Counts what differs in the games that are stored from what should be stored for them."""
    torn, doubled = [], []
    for key, tables in found.items():
        for table, expected in wanted.get(key, {}).items():
            held = tables.get(table, (0, ""))
            if held[0] > expected[0]:
                doubled.append(f"{key[:8]} has {held[0]} rows of {table}, not {expected[0]}")
            elif held != expected:
                torn.append(f"{key[:8]} has {held[0]} of {expected[0]} rows of {table}")
        if key not in wanted:
            torn.append(f"{key[:8]} is no game that was handed in")
    tally.count("torn", torn)
    tally.count("doubled", doubled)


@dataclass
class Workplace:
    """Games, and what should be stored for them.

    Attributes:
        folder: Where it all lies.
        documents: The games' files by name.
    """

    folder: Path
    count: int = 24

    def __post_init__(self) -> None:
        self.latest: Path | None = None
        self.games = self.folder / "games"
        self.games.mkdir()
        self.documents: dict[str, bytes] = {}
        for number, document in enumerate(generate(self.count, rounds=1)):
            self.documents[f"g{number}.json"] = json.dumps(document).encode()
        for name, content in self.documents.items():
            (self.games / name).write_bytes(content)
        self.database = self.folder / "whole.duckdb"
        run_to_the_end(command("import", self.games, "--db", self.database))
        self.wanted = read_content(self.database)
        assert len(self.wanted) == self.count

    def fresh(self, name: str) -> Path:
        """An empty folder, which takes the place of the one before; under a new name, as paths are remembered."""
        if self.latest is not None:
            shutil.rmtree(self.latest)
        self.latest = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        return self.latest


def done_so_far(lines: Iterable[str], pattern: str) -> int:
    """The largest number in the lines that a pattern finds; 0 for none."""
    return max((int(found[1]) for line in lines if (found := re.search(pattern, line))), default=0)


def repeated(values: Iterable[Any]) -> list[Any]:
    """The values that come more than once."""
    return [value for value, times in Counter(values).items() if times > 1]
