"""Several real processes on one file: nothing is lost, whoever waits gets a turn, and a kill loses nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluation.errors import StoreBusyError
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_run
from tests.unit.store.small_games import game

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
    with running(WRITE, path, GAME.id, "ann", 25) as one, running(WRITE, path, GAME.id, "bob", 25) as other:
        assert [next_line(one), next_line(other)] == ["ready", "ready"]
        send(one, "go\n")
        send(other, "go\n")
        own = Store(path, wait_seconds=60)
        for number in range(10):
            own.ratings.add(Rating(GAME.id, "me", 3, comment=str(number)))
        assert [one.wait(60), other.wait(60)] == [0, 0]
    comments = own.ratings.all().groupby("rater")["comment"].apply(list).to_dict()
    assert comments == {name: [str(n) for n in range(count)] for name, count in (("ann", 25), ("bob", 25), ("me", 10))}
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
    assert spending_by_run(store)["status"].tolist() == ["interrupted"]
    assert store.evaluations.latest().empty
    store.close()


def test_a_run_of_another_machine_is_at_work_while_it_says_so(path: Path) -> None:
    store = Store(path)
    run_id = store.evaluations.begin(Agent("ann", "Ann"), EvaluationPlan([Dimension.FLUENCY]))
    with store.unit(write=True) as cursor:
        cursor.execute("UPDATE evaluation_runs SET owner = 'elsewhere:1:2', heartbeat = now() - INTERVAL 1 HOUR")
    assert store.evaluations.runs()["status"].tolist() == ["interrupted"]
    store.evaluations.beat(run_id)
    assert store.evaluations.runs()["status"].tolist() == ["running"]
    with store.unit(write=True) as cursor:
        # As older versions left them.
        cursor.execute("UPDATE evaluation_runs SET owner = NULL, heartbeat = NULL")
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
