"""Backups: whole, checked, restored without losing what was there before."""

import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from evaluation.errors import ConflictError, InputError, NotFoundError, StoreBusyError, StoreError
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store.backup import check_backup
from evaluation.store.database import SCHEMA, make_tables
from evaluation.transcript import Message
from tests.long import mostly_long
from tests.unit.store.small_games import game
from tests.unit.store.test_store_processes import HOLD, next_line, running


def names(store: Store) -> list[str]:
    return list(store.transcripts.summaries()["game_id"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of ``store``, to be copied."""
    store = Store(tmp_path_factory.mktemp("made") / "main.duckdb")
    store.iterations.create("First")
    for name in ("one", "two"):
        store.transcripts.add(game(name), source_name=name, iteration="First")
    store.ratings.add(Rating(game("one").id, "Ada", 4))
    store.close()
    return Path(store.place)


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Store:
    """A store with two games, one of them rated, in an iteration."""
    (tmp_path / "it's mine").mkdir()
    return Store(shutil.copy(made, tmp_path / "it's mine" / "main.duckdb"))


def test_a_backup_holds_everything_and_can_be_used_as_a_database(store: Store, tmp_path: Path) -> None:
    info = store.backups.write(tmp_path / "it's a copy.duckdb")
    assert (info.transcripts, info.iterations, info.ratings, info.schema) == (2, 1, 1, SCHEMA)
    copy = Store(tmp_path / "it's a copy.duckdb")
    assert names(copy) == names(store) == ["one", "two"]
    # The numbers that order games go on where they were.
    copy.transcripts.add(game("three"), source_name="three")
    assert names(copy) == ["one", "two", "three"]
    copy.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it's a copy.duckdb", "it's mine"]


def test_a_backup_made_while_others_write_is_whole(store: Store, tmp_path: Path) -> None:
    stop = threading.Event()

    def write_on() -> None:
        number = 0
        while not stop.is_set():
            store.transcripts.add_many([(game(f"{number} a"), "a"), (game(f"{number} b"), "b")])
            number += 1

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        infos = [store.backups.write(tmp_path / f"copy{number}.duckdb") for number in range(3)]
    finally:
        stop.set()
        writer.join()
    # Games are added two at a time, in one transaction.
    assert [info.transcripts % 2 for info in infos] == [0, 0, 0]
    for number in range(3):
        with duckdb.connect(str(tmp_path / f"copy{number}.duckdb")) as copy:
            difference = "SELECT (SELECT count(*) FROM transcripts) - (SELECT count(*) FROM messages)"
            assert copy.execute(difference).fetchall() == [(0,)]


def test_restoring_keeps_the_database_of_before(store: Store, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "copy.duckdb")
    store.transcripts.add(game("three"), source_name="three")
    kept = store.backups.restore(tmp_path / "copy.duckdb")
    assert names(store) == ["one", "two"]
    assert kept is not None
    assert names(Store(kept)) == ["one", "two", "three"]
    assert kept.name.startswith("main-before-restore-")
    again = store.backups.restore(tmp_path / "copy.duckdb")
    assert again not in (None, kept)
    # A restore of this process is its own: it goes on with the file that took the place of the other.
    assert names(store) == ["one", "two"]
    # The backup itself is left alone, and no half-made file remains.
    assert check_backup(tmp_path / "copy.duckdb").transcripts == 2
    for used in (store, Store(kept)):
        used.close()
    assert {path.name for path in Path(store.place).parent.iterdir()} == {"main.duckdb", kept.name, again.name}


def test_a_damaged_database_can_be_replaced_and_stays_beside(store: Store, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "copy.duckdb")
    store.close()
    Path(store.place).write_bytes(b"this is not a database")
    kept = store.backups.restore(tmp_path / "copy.duckdb")
    assert names(store) == ["one", "two"]
    assert kept is not None
    assert kept.read_bytes() == b"this is not a database"


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (["CREATE TABLE other (a integer)"], "not a database of Dramaturg"),
        (["CREATE TABLE schema_migrations (number integer, name text)"], "not a database of Dramaturg"),
        (["INSERT INTO schema_migrations (number, name) VALUES (999, 'future')"], "has schema 999"),
        (["UPDATE schema_migrations SET number = 28"], "dramaturg export transcripts"),
        (["CREATE OR REPLACE TABLE stored_transcripts (transcript_id integer)"], "not those of Dramaturg"),
    ],
)
def test_what_is_no_backup_is_refused_and_nothing_changes(
    store: Store, tmp_path: Path, statements: list[str], reason: str
) -> None:
    path = tmp_path / "bad.duckdb"
    with duckdb.connect(str(path)) as connection:
        if not statements[0].startswith("CREATE TABLE"):
            make_tables(connection)
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(InputError, match=reason):
        store.backups.restore(path)
    assert names(store) == ["one", "two"]


def test_files_that_are_no_databases(store: Store, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 1000)
    # DuckDB would open it as a table in memory.
    (tmp_path / "table.csv").write_text("speaker,text\nAnn,Hello\n")
    (tmp_path / "cut").write_bytes(Path(store.place).read_bytes()[:9000])
    for name, kind, told in (
        ("text", InputError, "not a DuckDB database"),
        ("table.csv", InputError, "not a DuckDB database"),
        ("cut", InputError, "cannot be used as a backup"),
        ("nothing", NotFoundError, "no such file"),
    ):
        with pytest.raises(kind, match=told):
            store.backups.restore(tmp_path / name)


def test_nothing_is_replaced_under_a_running_job(store: Store, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "copy.duckdb")
    store.jobs.create("evaluate", "Scoring uploaded games", 3)
    with pytest.raises(ConflictError, match="Scoring uploaded games is running"):
        store.backups.restore(tmp_path / "copy.duckdb")


def test_nothing_is_replaced_while_another_process_uses_it(store: Store, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "copy.duckdb")
    hasty = Store(store.place, wait_seconds=0.3)
    hasty.close()
    with running(HOLD, store.place) as other:
        assert next_line(other) == "ready"
        with pytest.raises(StoreBusyError):
            hasty.backups.restore(tmp_path / "copy.duckdb")
    assert names(store) == ["one", "two"]


@pytest.fixture(scope="module")
def many_blocks(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of random words, so large that any of its parts can be damaged."""
    folder, words = tmp_path_factory.mktemp("large"), random.Random(1)
    made = Store(folder / "large.duckdb")
    for number in range(40):
        said = [Message(id=f"m{i}", index=i, speaker="Ann", text=words.randbytes(400).hex()) for i in range(20)]
        one = game(f"game {number}").model_copy(update={"messages": tuple(said)})
        made.transcripts.add(one, source_name=one.game_id)
    made.backups.write(folder / "copy.duckdb")
    made.close()
    return (folder / "copy.duckdb").read_bytes()


def read_whole(path: Path) -> int:
    """Reads every game, its messages, and its row by key; how many games there are."""
    store = Store(path)
    ids = list(store.transcripts.summaries()["transcript_id"])
    games = [store.transcripts.get(one) for one in ids]
    with store.unit() as cursor:
        assert cursor.execute("SELECT count(DISTINCT text) FROM messages").fetchall() == [(len(ids) * 20,)]
    store.close()
    return len(games)


@pytest.mark.parametrize(("times", "least"), mostly_long([(4, 1), (16, 6)]))
def test_whatever_was_damaged_what_is_restored_can_be_read_as_a_whole(
    store: Store, tmp_path: Path, many_blocks: bytes, times: int, least: int
) -> None:
    large, whole, chance = tmp_path / "large.duckdb", many_blocks, random.Random(2)
    refused = 0
    for _ in range(times):
        start, length = chance.randrange(12288, len(whole)), chance.choice([1, 100, 4096, 65536])
        end = min(start + length, len(whole))
        large.write_bytes(whole[:start] + bytes(byte ^ 0xFF for byte in whole[start:end]) + whole[end:])
        try:
            store.backups.restore(large)
        except InputError:
            refused += 1
        else:
            # The damage was in room that is free, or in an index, which is made again.
            assert read_whole(Path(store.place)) == 40
    assert refused >= least
    assert not [path.name for path in Path(store.place).parent.iterdir() if path.name.startswith(".")]


GARBAGE = {
    "UPDATE stored_transcripts SET document = 'garbage'::blob WHERE game_id = 'one'": "The transcript '.*' cannot be",
    "UPDATE import_reports SET document = '{}'": "The import report 'r' cannot be read",
}


def test_stored_documents_that_are_garbage_are_refused(store: Store, tmp_path: Path) -> None:
    with store.unit(write=True) as cursor:
        cursor.execute("""INSERT INTO import_reports VALUES ('r', 1, '{"files": [], "source": "", "iteration": null,
            "started_at": "2026-01-01T00:00:00+00:00", "seconds": 1, "id": "r"}')""")
    store.backups.write(tmp_path / "copy.duckdb")
    for statement, reason in GARBAGE.items():
        bad = Path(shutil.copy(tmp_path / "copy.duckdb", tmp_path / "bad.duckdb"))
        with duckdb.connect(str(bad)) as connection:
            connection.execute(statement)
        with pytest.raises(InputError, match=reason):
            store.backups.restore(bad)
        damaged = Store(bad)
        with pytest.raises(StoreError, match=f"cannot be backed up: .*{reason}") as caught:
            damaged.backups.write(tmp_path / "other.duckdb")
        damaged.close()
        assert caught.value.place == damaged.place
        assert not (tmp_path / "other.duckdb").exists()


RESTORE = """
import sys
from pathlib import Path
from evaluation.store import Store
while True:
    Store(sys.argv[1], wait_seconds=60).backups.restore(Path(sys.argv[2]))
"""
MAKE = """
import sys
from pathlib import Path
from evaluation.store._files import unfinished
with unfinished(Path(sys.argv[1])) as made:
    made.write_text("half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def kill_a_restore(store: Store, backup: Path) -> None:
    """Kills a process that restores, at a moment at which it leaves half a database."""
    folder = Path(store.place).parent
    for _ in range(50):
        with subprocess.Popen([sys.executable, "-c", RESTORE, store.place, str(backup)]) as process:
            while not hidden(folder):
                assert process.poll() is None
            process.kill()
        if hidden(folder):
            return
    raise AssertionError("no restore was killed while it wrote")


def test_a_restore_that_is_killed_leaves_nothing_after_the_next_opening(store: Store, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "copy.duckdb")
    folder = Path(store.place).parent
    for begin_again in (store.transcripts.summaries, lambda: store.backups.restore(tmp_path / "copy.duckdb")):
        store.close()
        kill_a_restore(store, tmp_path / "copy.duckdb")
        begin_again()
        assert not hidden(folder)
        assert names(store) == ["one", "two"]


def test_a_file_in_the_making_is_left_to_its_process_and_removed_after_it(store: Store, tmp_path: Path) -> None:
    folder = Path(store.place).parent
    with running(MAKE, store.place) as other:
        assert next_line(other) == "ready"
        store.close()
        assert names(store) == ["one", "two"]
        (made,) = hidden(folder)
        assert [path.read_text() for path in made.iterdir()] == ["half"]
    store.close()
    assert names(store) == ["one", "two"]
    assert not hidden(folder)
