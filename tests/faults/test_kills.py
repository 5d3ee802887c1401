"""One kill of each kind of work that every change goes through; ``make test-long`` has more."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from evaluation.store import Store
from tests.faults.kills import CONCURRENCY, KINDS, ROOT, Tally, Workplace, claim_asked, compare
from tests.judge_server import JudgeServer
from tests.long import mostly_long
from tests.waiting import wait_until

COUNT = 100


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("kills"), count=8)


# Dask's workers, clients and schedulers are killed in test_corpora.py.
@pytest.mark.parametrize("kind", mostly_long(["import", "judge", "persona", "experiment"]))
def test_after_a_kill_nothing_is_lost_torn_or_doubled(kind: str, place: Workplace) -> None:
    tally = Tally()
    for attempt in range(10):
        tally.add(KINDS[kind](place, Random(attempt)))
        if tally.kills:
            break
    assert (tally.kills, tally.remarks) == (1, [])


def test_what_is_missing_or_too_much_is_counted(place: Workplace) -> None:
    tally, (first, second, *_) = Tally(), place.wanted
    tables = dict(place.wanted[first])
    rows, digest = tables["messages"]
    held = {first: tables | {"messages": (rows - 1, digest)}, second: place.wanted[second] | {"votes": (99, "")}}
    compare(tally, {**held, "nobody's": {}}, place.wanted)
    tally.count("lost", place.wanted.keys() - held.keys())
    assert (tally.lost, tally.torn, tally.doubled) == (6, 2, 1)
    assert not tally.is_clean


def test_what_comes_while_another_process_holds_the_database_is_paid_for_once(tmp_path: Path) -> None:
    database = tmp_path / "judged.duckdb"
    Store(database).settings.set("made", True)

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.faults.judge_run", server.url, str(database), str(COUNT)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)

    with JudgeServer(latency_seconds=0.02, prompt_of=claim_asked).in_thread() as server:
        with start() as first:
            wait_until(lambda: len(server.tally.asked) > 0)
            with Store(database).unit(write=True):
                wait_until(lambda: len(server.tally.asked) >= 80)
                first.kill()
                first.wait()
        with start() as second:
            output, imported_late = second.communicate()
        assert second.returncode == 0
        twice = [subject for subject, times in server.tally.asked.items() if times > 1]
    assert output.count(";scored;") == COUNT
    # The client was prepared: the first answer did not wait for what litellm imports with it.
    late = [name for name in imported_late.split() if name.startswith(("litellm.proxy", "tiktoken", "openai", "httpx"))]
    assert late == []
    # What litellm freezes is let go of at the end: DuckDB would report it as leaked.
    assert "nanobind:" not in imported_late
    # What was under way when the process died is asked again, and nothing else.
    assert len(twice) <= CONCURRENCY
    with Store(database).unit() as cursor:
        assert cursor.execute("SELECT count(*) FROM judgements").fetchall() == [(COUNT,)]
        assert cursor.execute("SELECT count(*) FROM llm_calls").fetchall() == [(COUNT,)]
    assert [path.name for path in tmp_path.glob(".*")] == []
