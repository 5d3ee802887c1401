"""Several real processes on one file: nothing is lost, whoever waits gets a turn, and a kill loses nothing."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from evaluation.errors import StoreBusyError
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.unit.store.small_games import game
from tests.waiting import wait_until

GAME = game("game")

BEGIN = "import sys\nfrom evaluation.store import Store\nstore = Store(sys.argv[1], wait_seconds=60)\n"

# Says "ready" while it holds the file, and ends when its standard input does.
HOLD = BEGIN + "with store.unit():\n    print('ready', flush=True)\n    sys.stdin.read()\n"

WRITE = BEGIN + (
    "from evaluation.ratings import Rating\n"
    "transcript_id, rater, count = sys.argv[2], sys.argv[3], int(sys.argv[4])\n"
    "print('ready', flush=True)\n"
    "sys.stdin.readline()\n"
    "for number in range(count):\n"
    "    assert store.ratings.add(Rating(transcript_id, rater, 3, comment=str(number)))\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shared.duckdb"


@contextmanager
def running(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def send(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def test_who_cannot_get_the_file_is_told_which_process_holds_it(path: Path) -> None:
    with running(HOLD, path) as holder:
        assert next_line(holder) == "ready"
        with pytest.raises(StoreBusyError, match=rf"held by process {holder.pid} \(.*python.*\); waited 0\.") as caught:
            Store(path, wait_seconds=0.3).transcripts.summaries()
        assert str(path) in str(caught.value)
        assert "Try again" in str(caught.value)


def test_two_processes_write_at_the_same_time_and_nothing_is_lost(path: Path) -> None:
    Store(path).transcripts.add(GAME, source_name="f")
    Store(path).close()
    with running(WRITE, path, GAME.id, "ann", 12) as one, running(WRITE, path, GAME.id, "bob", 12) as other:
        assert [next_line(one), next_line(other)] == ["ready", "ready"]
        send(one, "go\n")
        send(other, "go\n")
        own = Store(path, wait_seconds=60)
        for number in range(5):
            own.ratings.add(Rating(GAME.id, "me", 3, comment=str(number)))
        assert [one.wait(60), other.wait(60)] == [0, 0]
    comments = own.ratings.all().groupby("rater")["comment"].apply(list).to_dict()
    assert comments == {name: [str(n) for n in range(count)] for name, count in (("ann", 12), ("bob", 12), ("me", 5))}
    own.close()


def test_processes_that_start_together_make_the_database_once(path: Path) -> None:
    code = BEGIN + "print('ready', flush=True)\nsys.stdin.readline()\nstore.iterations.create(sys.argv[2])\n"
    with running(code, path, "a") as a, running(code, path, "b") as b, running(code, path, "c") as c:
        assert [next_line(process) for process in (a, b, c)] == ["ready"] * 3
        for process in (a, b, c):
            send(process, "go\n")
        assert [process.wait(60) for process in (a, b, c)] == [0, 0, 0]
    store = Store(path)
    assert sorted(iteration.name for iteration in store.iterations.list()) == ["a", "b", "c"]
    store.close()


def test_a_busy_process_lets_another_have_its_turn(path: Path) -> None:
    store = Store(path)
    store.transcripts.add(GAME, source_name="f")
    with running(WRITE, path, GAME.id, "ann", 3) as other:
        assert next_line(other) == "ready"
        send(other, "go\n")
        started = time.monotonic()
        while other.poll() is None and time.monotonic() - started < 60:
            store.settings.get("key")
        assert other.returncode == 0
    store.close()


RUN = BEGIN + (
    "from evaluation.judging.propositions import Dimension\n"
    "from evaluation.persona.agents import Agent\n"
    "from evaluation.persona.evaluation import EvaluationPlan\n"
    "print(store.evaluations.begin(Agent('ann', 'Ann'), EvaluationPlan([Dimension.FLUENCY])), flush=True)\n"
    "sys.stdin.read()\n"
)


def test_an_evaluation_whose_process_was_killed_is_interrupted(path: Path) -> None:
    store = Store(path)
    with running(RUN, path) as worker:
        run_id = next_line(worker)
        (run,) = store.evaluations.runs().to_dict("records")
        assert (run["run_id"], run["status"]) == (run_id, "running")
        worker.kill()
        worker.wait(10)
    (run,) = store.evaluations.runs().to_dict("records")
    assert run["status"] == "interrupted"
    assert store.evaluations.latest().empty
    store.close()


def test_a_run_of_another_machine_is_at_work_for_a_quarter_of_an_hour(path: Path) -> None:
    store = Store(path)
    store.evaluations.begin(Agent("ann", "Ann"), EvaluationPlan([Dimension.FLUENCY]))
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET owner = 'elsewhere:1:2'")
    assert store.evaluations.runs()["status"].tolist() == ["running"]
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET created_at = now() - INTERVAL 1 HOUR")
    assert store.evaluations.runs()["status"].tolist() == ["interrupted"]
    store.close()


def test_a_forked_process_needs_a_store_of_its_own(path: Path) -> None:
    code = BEGIN + (
        "import os\n"
        "from evaluation.errors import StoreError\n"
        "store.settings.set('parent', 1)\n"
        "store.close()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    Store(sys.argv[1]).settings.set('child', 2)\n"
        "    try: store.settings.set('child', 3)\n"
        "    except StoreError as error: assert 'Make a new Store' in str(error)\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], store.settings.get('child'))\n"
    )
    with running(code, path) as process:
        assert next_line(process) == "0 2"


# Processes that wait for one file all get it, whatever becomes of those that wait beside them.


# Writes its number into a list beside the database while it holds the file.
ARRIVE = BEGIN + (
    "with store.unit():\n    with open(sys.argv[1] + '.order', 'a') as order: print(sys.argv[2], file=order)\n"
)


def is_waiting(process: subprocess.Popen[str], folder: Path) -> bool:
    """Whether the process has said by its lock on the folder that it waits."""
    place = f":{folder.stat().st_ino}"
    return any(
        fields[1] == "FLOCK" and fields[4] == str(process.pid) and fields[5].endswith(place)
        for fields in map(str.split, Path("/proc/locks").read_text().splitlines())
        if len(fields) > 5
    )


def queue(stack: ExitStack, path: Path, count: int) -> list[subprocess.Popen[str]]:
    """So many processes that wait, each known to wait before the next one comes."""
    waiting = []
    for number in range(count):
        waiting.append(stack.enter_context(running(ARRIVE, path, number)))
        wait_until(lambda: is_waiting(waiting[-1], path.parent))
    return waiting


def release(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    holder.stdin.close()


def order(path: Path) -> list[int]:
    return [int(line) for line in Path(f"{path}.order").read_text().split()]


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    Store(path).settings.set("key", 1)
    Store(path).close()
    with running(HOLD, path) as holder:
        assert next_line(holder) == "ready"
        yield holder


def test_all_that_wait_get_the_file_whoever_is_killed_beside_them(path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        waiting = queue(stack, path, 6)
        for killed in (waiting[0], waiting[2]):
            killed.send_signal(signal.SIGKILL)
            killed.wait(10)
        release(holder)
        assert [waiting[number].wait(60) for number in (1, 3, 4, 5)] == [0] * 4
    assert sorted(order(path)) == [1, 3, 4, 5]


def test_whoever_is_stopped_while_waiting_is_passed_by(path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        waiting = queue(stack, path, 3)
        waiting[0].send_signal(signal.SIGSTOP)
        release(holder)
        assert [waiting[1].wait(60), waiting[2].wait(60)] == [0, 0]
        waiting[0].send_signal(signal.SIGCONT)
        assert waiting[0].wait(60) == 0
    assert order(path)[-1] == 0


def test_the_queue_leaves_no_files_and_is_another_one_for_each_database(path: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        holder = stack.enter_context(held(path))
        queue(stack, path, 1)
        assert sorted(one.name for one in tmp_path.iterdir()) == ["shared.duckdb"]
        # Nobody waits for this one.
        started = time.monotonic()
        other = Store(tmp_path / "other.duckdb")
        assert other.settings.get("key") is None
        other.close()
        assert time.monotonic() - started < 30
        assert holder.poll() is None
