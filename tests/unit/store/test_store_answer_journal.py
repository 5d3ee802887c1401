"""The journal: what was paid for outlives the process, and comes into the store once."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation.errors import StoreError
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.judging.model_client.calls import CallRecord, Usage
from evaluation.judging.protocol import Prompt
from evaluation.simulation.model_texts import Generation
from evaluation.store import Store
from evaluation.store.answer_journal import AnswerJournal, JournalEntry, JournalFile, JournalledAnswers, JournalledTexts
from tests.stored_rows import llm_calls

ROOT = Path(__file__).parents[3]
TEXT = Generation("k1", "scope", "m", "simulation", "Ann", "Hello \N{SNOWMAN}", Usage(3, 0, 2, 0.5, 1))
CALL = CallRecord("simulation", "m", 1, "answered", datetime(2026, 11, 22, 12, 30, tzinfo=UTC), cost_usd=0.5)
ANSWER = KeptAnswer("k2", "m", ({"score": 5, "citations": ["M1"]},), Prompt("system", "user", "is it?"), raw="{}")
WHOLE = JournalEntry([TEXT], [ANSWER], [CALL])


@pytest.fixture
def heavy() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def run(
    keep: Callable[[Sequence[JournalEntry]], None],
    heavy: Executor,
    place: Path | None,
    work: Callable[[AnswerJournal], None] = lambda _: None,
) -> None:
    """Enters a journal of whose calls none is stored yet, works, and leaves it."""

    async def main() -> None:
        async with AnswerJournal(keep, lambda _: False, heavy, place) as journal:
            work(journal)

    asyncio.run(main())


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("is_on_disk", [True, False])
def test_what_is_kept_is_stored_in_the_end_and_leaves_no_file(
    tmp_path: Path, heavy: Executor, is_on_disk: bool
) -> None:
    kept: list[JournalEntry] = []
    store = Store(":memory:")

    def work(journal: AnswerJournal) -> None:
        texts = JournalledTexts(journal, store.generations)
        answers = JournalledAnswers(journal, store.judgements, ())
        texts.keep([TEXT], [CALL])
        answers.keep([ANSWER], [])
        # It is not stored yet, and found nevertheless; nobody looks for what was never kept.
        assert answers.lookup(["k2", "k3"]) == {"k2": ANSWER}
        assert len(files(tmp_path)) == is_on_disk

    run(kept.extend, heavy, tmp_path / "here" if is_on_disk else None, work)
    assert kept == [JournalEntry([TEXT], (), [CALL]), JournalEntry((), [ANSWER], [])]
    assert files(tmp_path) == []


def test_entries_are_stored_while_others_come(tmp_path: Path, heavy: Executor) -> None:
    kept: list[JournalEntry] = []

    async def main() -> None:
        async with AnswerJournal(kept.extend, lambda _: False, heavy, tmp_path / "here") as journal:
            journal.add(JournalEntry(answers=[ANSWER]))
            while not kept:
                await asyncio.sleep(0.01)
            while journal.unstored("k2"):
                await asyncio.sleep(0.01)
            journal.add(JournalEntry(generations=[TEXT]))

    asyncio.run(main())
    assert kept == [JournalEntry(answers=[ANSWER]), JournalEntry(generations=[TEXT])]
    assert files(tmp_path) == []


def killed(place: Path, signal_number: int = signal.SIGKILL) -> None:
    """A process that keeps an answer and is killed before it is stored."""
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from tests.unit.store.test_store_answer_journal import WHOLE, JournalFile\n"
        "file = JournalFile.make(Path(sys.argv[1]))\n"
        "file.add(WHOLE)\n"
        f"os.kill(os.getpid(), {signal_number})\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(place)], cwd=ROOT, check=False)
    assert done.returncode == -signal_number


def test_a_killed_run_leaves_what_the_next_one_stores(tmp_path: Path, heavy: Executor) -> None:
    place = tmp_path / "a [1]*.duckdb"
    killed(place)
    [left] = tmp_path.iterdir()
    with left.open("ab") as file:
        file.write(b'{"generations": [{"key": "cut o')
    kept: list[JournalEntry] = []
    run(kept.extend, heavy, tmp_path / "another")
    assert kept == []
    run(kept.extend, heavy, place)
    [found] = kept
    assert [*found.generations, *found.answers, *found.calls] == [TEXT, ANSWER, CALL]
    assert files(tmp_path) == []


def test_what_was_stored_before_the_kill_is_counted_once(tmp_path: Path, heavy: Executor) -> None:
    """The kill fell between the transaction and the removal of the file."""
    store = Store(":memory:")
    for _ in range(2):
        killed(tmp_path / "here")

        async def main() -> None:
            async with AnswerJournal(store.judgements.keep_entries, store.llm_calls.have, heavy, tmp_path / "here"):
                """Only enters and leaves."""

        asyncio.run(main())
        assert files(tmp_path) == []
        assert len(llm_calls(store)) == 1
    assert store.judgements.lookup(["k2"]) == {"k2": ANSWER}


def test_a_run_leaves_the_files_of_one_that_lives(tmp_path: Path, heavy: Executor) -> None:
    place = tmp_path / "here"
    living = JournalFile.make(place)
    living.add(JournalEntry(generations=[replace(TEXT, text="half \ud83d")]))
    living.add(WHOLE)
    kept: list[JournalEntry] = []
    run(kept.extend, heavy, place)
    assert kept == []
    assert len(files(tmp_path)) == 1
    living.close(is_stored=False)
    run(kept.extend, heavy, place)
    # Half a character of another text spoils nothing else.
    assert TEXT in [one for entry in kept for one in entry.generations]


def test_what_could_not_be_stored_stays_and_nothing_more_is_taken(tmp_path: Path, heavy: Executor) -> None:
    place = tmp_path / "here"

    def full(_: Sequence[JournalEntry]) -> None:
        raise StoreError("The disk is full.")

    async def refused(journal: AnswerJournal) -> str:
        while True:
            try:
                journal.add(JournalEntry())
            except StoreError as error:
                return str(error)
            await asyncio.sleep(0.01)

    async def main() -> None:
        async with AnswerJournal(full, lambda _: False, heavy, place) as journal:
            journal.add(WHOLE)
            assert "full" in await refused(journal)

    with pytest.raises(StoreError, match="full"):
        asyncio.run(main())
    assert files(tmp_path)
    kept: list[JournalEntry] = []
    run(kept.extend, heavy, place)
    assert WHOLE.generations[0] in [one for entry in kept for one in entry.generations]
    assert files(tmp_path) == []


def test_a_full_disk_is_an_error_and_not_a_line(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from evaluation.errors import StoreError\n"
        "from tests.unit.store.test_store_answer_journal import WHOLE, JournalFile\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "file = JournalFile.make(Path(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "try:\n"
        "    for _ in range(10): file.add(WHOLE)\n"
        "except StoreError as error: print(len(file.entries), error)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "here")]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    count, words = done.stdout.split(" ", 1)
    assert 0 < int(count) < 10
    assert "could not be kept in a file" in words
    assert os.path.getsize(next(tmp_path.iterdir())) <= 2_000
