"""Kill every kind of work at random moments: ``python -m tests.faults.kills [--kills 100] [--seed 1] [--only NAME]``.

After each kill the database is opened again and read as a whole, held against what had been acknowledged, and the same
command is run to its end; what is stored then must be what a run without a kill stores. Printed is how often something
was lost, torn or doubled. The exit code is 1 when anything was.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import psutil
from websockets.exceptions import ConnectionClosed

from benchmarks.generate import generate
from evaluation.store import JobState, Store
from tests.dashboard_server import serving
from tests.faults.experiment_run import CONCURRENCY as EXPERIMENT_CONCURRENCY
from tests.faults.tab import Tab, events_of
from tests.judge_server import JudgeServer, plausible_answer
from tests.stored_rows import llm_calls

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


def run_until(arguments: list[str], moment: Moment, acknowledges: Callable[[str], bool]) -> Killed:
    """Runs a command until a moment, and kills it with all that it started.

    Args:
        arguments: The command.
        moment: When.
        acknowledges: Whether a line that it writes, to either stream, acknowledges something.
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
            kill_all(process.pid)
            was_killed = True
        lines += process.stdout.readlines()
        return Killed(lines, was_killed, process.wait(PATIENCE_SECONDS))


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


JUDGED = 120
CONCURRENCY = 10
RATERS = 3
AGENTS = "agent-zulu,agent-delta"


def kill_import(place: Workplace, random: Random) -> Tally:
    """``dramaturg import`` with one process or two."""
    tally, folder = Tally(), place.fresh("import")
    arguments = command("import", place.games, "--jobs", random.choice([1, 2]), "--db", folder / "a.duckdb")
    moment = Moment.draw(random, 4)
    killed = run_until(arguments, moment, lambda line: "done: " in line)
    tally.kills += killed.was_killed
    found = read_content(folder / "a.duckdb")
    compare(tally, found, place.wanted)
    tally.count("lost", range(len(found), done_so_far(killed.lines, r"^(\d+) games? done")))
    run_to_the_end(arguments)
    _finish(tally, folder / "a.duckdb", place)
    return tally


def kill_rating(place: Workplace, random: Random) -> Tally:
    """``dramaturg serve`` while raters submit forms."""
    tally, folder = Tally(), place.fresh("rating")
    database = folder / "a.duckdb"
    shutil.copyfile(place.database, database)
    saved: list[tuple[str, str]] = []
    until, delay = random.randint(1, 12), random.uniform(0, 0.3)

    is_enough = threading.Event()

    def rate(url: str, rater: str) -> None:
        with suppress(ConnectionClosed, OSError, httpx.HTTPError):
            tab = Tab(url).open("rate", f"rater={quote(rater)}")
            while (desk := tab.desk()) is not None:
                token = json.loads(desk.json)["token"]
                form = {**events_of(desk)["submit"], "score": random.randint(1, 5), "comment": f"{rater} {token}"}
                tab.send(desk, "submit", form)
                following = tab.desk()
                if following is not None and json.loads(following.json)["kept"] == token:
                    saved.append((rater, token))
                if len(saved) >= until:
                    is_enough.set()

    with serving(database) as server, ThreadPoolExecutor(RATERS) as threads:
        for number in range(RATERS):
            threads.submit(rate, server.url, f"Rater {number}")
        is_enough.wait()
        time.sleep(delay)
        assert server.process is not None
        kill_all(server.process.pid)
        tally.kills += 1
    compare(tally, read_content(database), place.wanted)
    store = Store(database)
    held = store.ratings.all()
    store.close()
    comments = list(held["comment"])
    tally.count("lost", (f"{rater} {token}" for rater, token in saved if f"{rater} {token}" not in comments))
    tally.count("doubled", repeated(comments))
    pairs = zip(held["rater"], held["comment"], strict=True)
    tally.count("torn", (comment for rater, comment in pairs if not comment.startswith(rater)))
    return tally


def kill_judge(place: Workplace, random: Random) -> Tally:
    """A run of judgements against a judge's server."""
    tally, folder = Tally(), place.fresh("judge")
    database = folder / "a.duckdb"
    with JudgeServer(latency_seconds=0.05, prompt_of=claim_asked).in_thread() as server:
        arguments = [sys.executable, "-m", "tests.faults.judge_run", server.url, str(database), str(JUDGED)]
        killed = run_until(arguments, Moment.draw(random, JUDGED - 20, 0.1), _is_judged)
        tally.kills += killed.was_killed
        reported = [line.split(";")[0] for line in killed.lines if _is_judged(line)]
        before = dict(server.tally.asked)
        read_content(database)
        lines = [line.split(";") for line in run_to_the_end(arguments).splitlines()]
        asked = server.tally.asked
    scored = [subject for subject, status, _ in lines if status == "scored"]
    tally.count("lost", {f"claim {number}" for number in range(JUDGED)} - set(scored))
    tally.count("lost", (f"{subject} was reported and asked again" for subject in reported if asked[subject] != 1))
    cached = {subject for subject, _, is_cached in lines if is_cached == "True"}
    tally.count("torn", set(reported) - cached)
    # Only what was under way when the process died is asked a second time.
    twice = sorted(subject for subject, times in asked.items() if times > 1)
    tally.count("doubled", [*twice[2 * CONCURRENCY :], *(set(twice) - set(before)), *(set(twice) & cached)])
    with Store(database).unit() as cursor:
        (kept,) = cursor.execute("SELECT count(*) FROM judgements").fetchall()[0]
    tally.count("doubled", range(JUDGED, kept))
    return tally


def kill_persona(place: Workplace, random: Random) -> Tally:
    """``dramaturg persona run`` of two agents, every question in a call of its own."""
    tally, folder = Tally(), place.fresh("persona")
    database, whole = folder / "a.duckdb", folder / "whole.duckdb"
    shutil.copyfile(place.database, database)
    shutil.copyfile(place.database, whole)
    judge = JudgeServer(latency_seconds=0.05, content=_same_answer, prompt_of=_unmarked)
    with judge.in_thread() as server:
        options = ["--agents", AGENTS, "--dimensions", "fluency", "--mode", "live", "--individual", "--format", "json"]
        options += ["--model", "local", "--base-url", server.url, "--concurrency", str(CONCURRENCY)]
        killed = run_until(
            command("persona", "run", *options, "--db", database), Moment.draw(random, 4, 0.3), _is_progress
        )
        tally.kills += killed.was_killed
        compare(tally, read_content(database), place.wanted)
        store = Store(database)
        states = list(store.evaluations.runs()["status"])
        tally.count("torn", (state for state in states if state not in {"interrupted", "completed"}))
        store.close()
        told = json.loads(run_to_the_end(command("persona", "run", *options, "--db", database)))
        asked = dict(server.tally.asked)
        expected = json.loads(run_to_the_end(command("persona", "run", *options, "--db", whole)))
    if _marks(told) != _marks(expected):
        tally.count("torn", ["the scores differ from those of a run without a kill"])
    tally.count("doubled", [prompt for prompt, times in asked.items() if times > 1][2 * CONCURRENCY :])
    with Store(database).unit() as cursor:
        same = "SELECT count(*) FROM evaluation_scores GROUP BY evaluation_run_id, position HAVING count(*) > 1"
        tally.count("doubled", cursor.execute(same).fetchall())
    return tally


def kill_experiment(place: Workplace, random: Random) -> Tally:
    """An experiment of simulated discussions, run as a job."""
    tally, folder = Tally(), place.fresh("experiment")
    database = folder / "killed.duckdb"
    killed = run_until(_experiment(database), Moment.draw(random, 150, 0.2), _is_call)
    tally.kills += killed.was_killed
    paid = sum(map(_is_call, killed.lines))
    read_content(database)
    states = _job_states(database)
    tally.count("torn", (state for state in states if state not in {JobState.INTERRUPTED, JobState.DONE}))
    *calls, report = run_to_the_end(_experiment(database)).splitlines()
    *at_once, expected = run_to_the_end(_experiment(folder / "whole.duckdb")).splitlines()
    if report != expected:
        tally.count("torn", ["the report differs from that of a run without a kill"])
    again = paid + len(calls) - len(at_once)
    tally.count("doubled", range(2 * EXPERIMENT_CONCURRENCY, again))
    tally.count("lost", range(again, 0))
    # A call that was answered is logged with the next answer that is kept, perhaps before its own is: then it is paid
    # twice, and logged twice. Nothing else is.
    logged = _calls_logged(database) - _calls_logged(folder / "whole.duckdb")
    tally.count("doubled", range(again, logged))
    tally.count("lost", range(logged, 0))
    tally.count("torn", folder.glob(".*.answers"))
    return tally


KINDS: Mapping[str, Callable[[Workplace, Random], Tally]] = {
    "import": kill_import,
    "rating": kill_rating,
    "judge": kill_judge,
    "persona": kill_persona,
    "experiment": kill_experiment,
}


def kill_all_kinds(kills: int, seed: int, only: str | None = None) -> dict[str, Tally]:
    """Kills so many processes, one kind after the other, and says for each kind what was found.

    A process that had ended before its moment came does not count, and is tried again with another moment.
    """
    names = [only] if only else list(KINDS)
    tallies = {name: Tally() for name in names}
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(Path(folder))
        attempt = 0
        while (done := sum(tally.kills for tally in tallies.values())) < kills:
            name = names[done % len(names)]
            found = KINDS[name](place, Random(f"{seed} {attempt}"))
            attempt += 1
            tallies[name].add(found)
            print(f"{done + found.kills} of {kills}: {name}", *found.remarks, file=sys.stderr, flush=True)
            if attempt > 3 * kills + 10:
                raise RuntimeError("Too many processes ended before they could be killed.")
    return tallies


def _finish(tally: Tally, database: Path, place: Workplace) -> None:
    """Holds what is stored at the end against a run without a kill."""
    found = read_content(database)
    compare(tally, found, place.wanted)
    tally.count("lost", (f"{key[:8]} at the end" for key in place.wanted.keys() - found.keys()))


def claim_asked(body: dict[str, Any]) -> str:
    """What identifies a question of ``judge_run``."""
    found = re.search(r"Claim (\d+)\.", str(body["messages"][-1]["content"]))
    return f"claim {found[1]}" if found else ""


def _unmarked(body: dict[str, Any]) -> str:
    """The question without the random marks around what strangers wrote."""
    return re.sub(r"<<[0-9a-f]+>>", "", str(body["messages"][-1]["content"]))


def _same_answer(body: dict[str, Any]) -> str:
    return plausible_answer({"messages": [{"content": _unmarked(body)}]})


def _is_judged(line: str) -> bool:
    return line.startswith("claim ") and line.endswith("\n")


def _is_progress(line: str) -> bool:
    return "judgements done, " in line


def _is_call(line: str) -> bool:
    return line == "call\n"


def _marks(told: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (one["agent"]["id"], item["proposition_id"], item["message"], item["score"])
        for one in told
        for dimension in one["dimensions"].values()
        for item in dimension["items"]
    ]


def _experiment(database: Path) -> list[str]:
    return [sys.executable, "-m", "tests.faults.experiment_run", str(database)]


def _job_states(database: Path) -> list[JobState]:
    store = Store(database)
    found = [job.state for job in store.jobs.list()]
    store.close()
    return found


def _calls_logged(database: Path) -> int:
    store = Store(database)
    calls = len(llm_calls(store))
    store.close()
    return calls


def main() -> int:
    """Prints the table; 1 when anything was lost, torn or doubled."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(KINDS))
    given = parser.parse_args()
    start = time.monotonic()
    tallies = kill_all_kinds(given.kills, given.seed, given.only)
    total = Tally()
    print("| killed while | kills | lost | torn | doubled |\n| --- | --- | --- | --- | --- |")
    for name, tally in tallies.items():
        total.add(tally)
        print(f"| {_words(name)} | {tally.kills} | {tally.lost} | {tally.torn} | {tally.doubled} |")
    print(f"| together | {total.kills} | {total.lost} | {total.torn} | {total.doubled} |")
    print(f"\nSeed {given.seed}, {time.monotonic() - start:.0f} s.", *total.remarks, sep="\n")
    return 0 if total.is_clean else 1


def _words(name: str) -> str:
    return str(KINDS[name].__doc__).rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
