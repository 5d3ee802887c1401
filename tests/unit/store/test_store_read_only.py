"""A database that is open for reading only: several processes at once, and nothing in it changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.errors import StoreBusyError, StoreError, StoreReadOnlyError
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.backup.backup import check_backup
from evaluation.transcript import Message, Player, Transcript

GAME = Transcript(
    game_id="game",
    source_format="native",
    players=(Player(name="Ann"),),
    messages=(Message(id="m0", index=0, speaker="Ann", text="Hello"),),
)

# Says how many games it sees while it holds the file, and ends when its standard input does.
READ = (
    "import sys\nfrom evaluation.store import Store\nstore = Store(sys.argv[1], wait_seconds=60, read_only=True)\n"
    "with store.unit():\n    print(store.transcripts.count(), flush=True)\n    sys.stdin.read()\n"
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.duckdb"
    store = Store(path)
    store.iterations.create("Prompt 1")
    store.transcripts.add(GAME, source_name="game.json", iteration="Prompt 1")
    store.close()
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_several_processes_read_at_the_same_time_and_a_writer_waits_for_all(corpus: Path) -> None:
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READ, str(corpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "1\n"
        # Both hold the file now.
        here = Store(corpus, read_only=True, wait_seconds=0.1)
        assert here.transcripts.get(GAME.id) == GAME
        here.close()
        with pytest.raises(StoreBusyError):
            Store(corpus, wait_seconds=0.1).transcripts.count()
    finally:
        for reader in readers:
            reader.communicate(timeout=60)
    assert Store(corpus, wait_seconds=60).transcripts.count() == 1


def test_every_way_of_writing_is_refused_and_the_file_stays_as_it_was(corpus: Path, tmp_path: Path) -> None:
    before = digest(corpus)
    store = Store(corpus, read_only=True)
    assert store.is_read_only
    attempts = [
        lambda: store.iterations.create("Prompt 2"),
        lambda: store.transcripts.rename(GAME.id, "Another"),
        lambda: store.ratings.add(Rating(GAME.id, "Ada", 4)),
        lambda: store.unguarded().jobs.create("evaluate", "ten games", 10),
    ]
    for attempt in attempts:
        with pytest.raises(StoreReadOnlyError, match="open for reading only; nothing was stored"):
            attempt()
    backup = tmp_path / "backup.duckdb"
    store.backups.write(backup)
    assert check_backup(backup).transcripts == 1
    with pytest.raises(StoreReadOnlyError):
        store.backups.restore(backup)
    store.close()
    assert digest(corpus) == before
    assert {one.name for one in tmp_path.iterdir()} == {"corpus.duckdb", "backup.duckdb"}


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no such file"):
        Store(tmp_path / "folder" / "none.duckdb", read_only=True).transcripts.count()
    assert not list(tmp_path.iterdir())


def test_an_empty_file_is_left_as_it_is(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "empty.duckdb"
    duckdb.connect(str(path)).close()
    before = digest(path)
    with pytest.raises(StoreError, match="may only be read there"):
        Store(path, read_only=True).transcripts.count()
    assert digest(path) == before


def test_a_process_may_write_again_when_it_has_closed_the_file(corpus: Path) -> None:
    reading = Store(corpus, read_only=True)
    assert reading.transcripts.count() == 1
    reading.close()
    writing = Store(corpus)
    writing.iterations.create("Prompt 2")
    writing.close()
    assert [one.name for one in reading.iterations.list()] == ["Prompt 1", "Prompt 2"]
    reading.close()
