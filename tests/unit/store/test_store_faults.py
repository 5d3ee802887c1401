"""Broken, foreign, full and moved away: what a person is told, and that nothing acknowledged is lost."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from evaluation.errors import InputError, NewerSchemaError, StoreError
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.store._duckdb_errors import explain
from evaluation.transcript import Transcript
from tests.games import game_of
from tests.unit.store.small_games import game

ROOT = Path(__file__).parents[3]


def said(number: int) -> Transcript:
    return game_of([("Ann", os.urandom(400).hex()) for _ in range(100)], game_id=f"g{number}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.duckdb"


def of_another_program(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE theirs (a integer)")


@pytest.mark.parametrize(
    ("name", "make", "told"),
    [
        ("a.duckdb", lambda path: path.write_text("Dear diary, nothing happened. " * 200), "not a DuckDB database"),
        ("a.duckdb", of_another_program, "not a database of Dramaturg"),
        # DuckDB opens it as a view in memory: what is stored there would be gone.
        ("a.csv", lambda path: path.write_text("speaker,text\nAnn,Hello\n"), "not a database of Dramaturg"),
        ("a.json", lambda path: path.write_text('{"a": 1}'), "not a database of Dramaturg"),
    ],
    ids=["text", "another program", "csv", "json"],
)
def test_what_is_no_database_of_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, name: str, make: Callable[[Path], object], told: str
) -> None:
    make(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    with pytest.raises(StoreError, match=rf"{tmp_path}/{name}: .*{told}.*--db"):
        Store(tmp_path / name).transcripts.add(said(1), source_name="1")
    assert (tmp_path / name).read_bytes() == before


def test_a_path_in_another_encoding_is_refused() -> None:
    with pytest.raises(InputError, match=r"path: .*surrogate"):
        Store("caf\udce9.duckdb")


def test_a_place_that_holds_no_file_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    os.mkfifo(tmp_path / "pipe.duckdb")
    (tmp_path / "a.duckdb").symlink_to(tmp_path / "b.duckdb")
    (tmp_path / "b.duckdb").symlink_to(tmp_path / "a.duckdb")
    for place, told in (
        (tmp_path / "file" / "deeper" / "a.duckdb", r"file/deeper.*folder cannot be made: .*--db"),
        ("/proc/a.duckdb", r"/proc/a\.duckdb: .*cannot be opened or made"),
        (tmp_path / "pipe.duckdb", r"There is no file but a pipe or device\..*--db"),
        ("/dev/null", "/dev/null: There is no file but a pipe or device"),
        (tmp_path / "a.duckdb", "cannot be looked at: Too many levels of symbolic links"),
    ):
        with pytest.raises(StoreError, match=told):
            Store(place).transcripts.summaries()


def filled(path: Path, games: int = 20) -> Store:
    store = Store(path)
    store.transcripts.add_many([(said(number), "f") for number in range(games)])
    store.close()
    return store


# Blocks have checksums; all of them but the headers are damaged, so that whatever is read first is.
@pytest.mark.parametrize(
    "damaged",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:12288] + bytes(byte ^ 0xFF for byte in whole[12288:]),
    ],
    ids=["without its end", "in the middle"],
)
def test_damage_is_told_and_cured_by_the_backup(path: Path, damaged: Callable[[bytes], bytes]) -> None:
    store = filled(path)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole))
    with pytest.raises(StoreError, match=r"damaged.*backup"):
        read_all(store)
    path.write_bytes(whole)
    assert read_all(store) == 20
    store.close()


def read_all(store: Store) -> int:
    ids = store.transcripts.summaries()["transcript_id"]
    return sum(store.transcripts.get(one).id == one for one in ids)


LOG = """
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
for number in range(20):
    connection.execute("INSERT INTO settings (key, value) VALUES (?, '1')", [f"{number} {'x' * 100}"])
os._exit(0)
"""


def leave_log(path: Path) -> Path:
    """The log of somebody else's process that was killed, beside a database of Dramaturg."""
    store = Store(path)
    store.settings.set("a", 1)
    store.close()
    subprocess.run([sys.executable, "-c", LOG, str(path)], check=True)
    return path.with_name(f"{path.name}.wal")


ACKNOWLEDGED = """
import os, sys
from evaluation.ratings import Rating
from evaluation.store import Store
store = Store(sys.argv[1])
for number in range(10):
    store.ratings.add(Rating(sys.argv[2], f"Rater {number}", 4))
    print(number, flush=True)
os._exit(0)
"""


def rated_by_a_killed_process(path: Path) -> str:
    (rated,) = filled(path, games=1).transcripts.ids()
    Store(path).close()
    subprocess.run([sys.executable, "-c", ACKNOWLEDGED, str(path), rated], check=True, stdout=subprocess.DEVNULL)
    return rated


@pytest.mark.parametrize("kept", [0.0, 0.7])
def test_no_acknowledged_rating_depends_on_the_log(path: Path, kept: float) -> None:
    rated = rated_by_a_killed_process(path)
    log = path.with_name("a.duckdb.wal")
    if log.exists():
        data = log.read_bytes()
        log.write_bytes(data[: int(len(data) * kept)])
    assert len(Store(path).ratings.latest(rated)) == 10


def test_no_acknowledged_rating_is_lost_between_two_names_of_a_file(path: Path) -> None:
    rated = rated_by_a_killed_process(path)
    other = path.with_name("other.duckdb")
    os.link(path, other)
    # The log of the first name is not that of the second.
    subprocess.run([sys.executable, "-c", ACKNOWLEDGED.replace("Rater", "Other"), str(other), rated], check=True)
    assert len(Store(path).ratings.latest(rated)) == 20


def test_a_damaged_log_is_told_with_what_to_do(path: Path) -> None:
    log = leave_log(path)
    data = bytearray(log.read_bytes())
    data[data.index(b"x" * 50) + 20] ^= 0xFF
    log.write_bytes(data)
    with pytest.raises(StoreError, match=r"a\.duckdb: The log .*\.wal.* is damaged.*move the \.wal file away"):
        Store(path).settings.get("a")
    log.rename(path.with_name("away"))
    assert Store(path).settings.get("a") == 1


def test_a_log_that_belongs_to_another_file_is_told(path: Path) -> None:
    leave_log(path)
    path.unlink()
    with pytest.raises(StoreError, match=r"\.wal file.*Move the \.wal file away"):
        Store(path).settings.get("a")


def test_a_full_disk_loses_the_change_that_did_not_fit_and_nothing_before(path: Path) -> None:
    code = """
import os, resource, signal, sys
from evaluation.errors import StoreError
from evaluation.store import Store
from tests.games import game_of

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1])
store.settings.set("before", 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    store.transcripts.add(game_of([("Ann", os.urandom(4_000_000).hex())]), source_name="big")
except StoreError as error:
    print(error)
print(store.settings.get("before"), len(store.transcripts.summaries()))
"""
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "last change was not stored" in done.stdout, done.stdout + done.stderr
    store = Store(path)
    assert store.settings.get("before") == 1
    assert store.transcripts.summaries().empty
    store.settings.set("after", 1)
    store.close()


@pytest.mark.parametrize(
    ("report", "kind", "words"),
    [
        ("IO Error: ... created with a newer version of DuckDB", NewerSchemaError, "Update Dramaturg"),
        ('IO Error: Cannot open file "x": Permission denied', StoreError, "Change its rights"),
        ("IO Error: Could not write: No space left on device", StoreError, "disk is full"),
        ("INTERNAL Error: Odd.\nStack trace: ...", StoreError, "The database failed: INTERNAL Error: Odd."),
    ],
)
def test_reports_of_the_engine_in_our_words(report: str, kind: type[StoreError], words: str) -> None:
    error = explain(duckdb.Error(report), "x.duckdb")
    assert type(error) is kind
    assert words in str(error)
    assert "Stack trace" not in str(error)


IN_BULK = """
import os, sys
from evaluation.store import Store
from tests.unit.store.small_games import game
store = Store(sys.argv[1])
with store.written_in_bulk():
    for number in range(5):
        store.transcripts.add(game(f"b{number}"), source_name="b")
os._exit(0)
"""


def test_what_was_imported_in_bulk_does_not_depend_on_the_log_when_it_is_done(path: Path) -> None:
    subprocess.run([sys.executable, "-c", IN_BULK, str(path)], check=True, cwd=ROOT)
    assert not path.with_name("a.duckdb.wal").exists()
    assert len(Store(path).transcripts.summaries()) == 5


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
from evaluation.errors import StoreError
from evaluation.store import Store
try:
    Store(sys.argv[1]).settings.set("key", 1)
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("room", [0, 5_000, 10_000])
def test_a_full_disk_leaves_no_files_behind(tmp_path: Path, room: int) -> None:
    command = [sys.executable, "-B", "-c", FULL, str(tmp_path / "new.duckdb"), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "The disk takes no more" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == []


GAME = game("game")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "used.duckdb")
    made.transcripts.add(GAME, source_name="f")
    yield made
    made.close()


@pytest.fixture
def place(store: Store) -> Path:
    return Path(store.place)


def scores(path: Path) -> list[int]:
    """The ratings in a file, as another process reads them."""
    code = "import sys\nfrom evaluation.store import Store\nprint(*Store(sys.argv[1]).ratings.all()['score'])"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return [float(score) for score in done.stdout.split()]


def test_nothing_is_written_to_a_file_that_was_moved_away(store: Store, place: Path, tmp_path: Path) -> None:
    place.rename(tmp_path / "elsewhere.duckdb")
    with pytest.raises(StoreError, match=r"was moved or deleted while it was in use; nothing was stored.* Put it back"):
        store.ratings.add(Rating(GAME.id, "Ada", 4))
    with pytest.raises(StoreError, match="moved or deleted"):
        store.transcripts.summaries()
    assert not place.exists()
    (tmp_path / "elsewhere.duckdb").rename(place)
    assert store.ratings.add(Rating(GAME.id, "Ada", 5))
    store.close()
    assert scores(place) == [5]


def test_a_file_that_another_one_replaced_is_used_from_then_on(store: Store, place: Path) -> None:
    store.close()
    other = shutil.copyfile(place, place.with_name("other.duckdb"))
    store.ratings.add(Rating(GAME.id, "Ada", 1))
    place.rename(place.with_name("before.duckdb"))
    shutil.copyfile(other, place)
    store.ratings.add(Rating(GAME.id, "Ada", 2))
    assert scores(place.with_name("before.duckdb")) == [1]
    assert scores(place) == [2]


def test_a_change_under_way_when_the_file_goes_is_not_acknowledged(store: Store, place: Path, tmp_path: Path) -> None:
    def rate_and_move() -> None:
        with store.unit(write=True):
            store.ratings.add(Rating(GAME.id, "Ada", 4))
            place.rename(tmp_path / "elsewhere.duckdb")

    with pytest.raises(StoreError, match="moved or deleted"):
        rate_and_move()
    (tmp_path / "elsewhere.duckdb").rename(place)
    assert store.ratings.of_transcript(GAME.id)[0] == []


def test_a_restore_in_another_process_is_followed(store: Store, place: Path, tmp_path: Path) -> None:
    code = """import sys
from pathlib import Path
from evaluation.store import Store
for _ in range(2):
    Store(sys.argv[1], wait_seconds=60).backups.restore(Path(sys.argv[2]))"""
    store.backups.write(tmp_path / "backup.duckdb")
    store.ratings.add(Rating(GAME.id, "Ada", 1))
    # Two, before this process looks.
    subprocess.run([sys.executable, "-c", code, str(place), str(tmp_path / "backup.duckdb")], check=True)
    assert store.ratings.of_transcript(GAME.id)[0] == []
    assert store.ratings.add(Rating(GAME.id, "Ada", 3))


def test_a_backup_takes_the_place_of_a_database_that_is_gone(store: Store, place: Path, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "backup.duckdb")
    place.unlink()
    with pytest.raises(StoreError, match=r"moved or deleted.*restart Dramaturg"):
        store.transcripts.summaries()
    assert not place.exists()
    assert store.backups.restore(tmp_path / "backup.duckdb") is None
    assert list(store.transcripts.summaries()["game_id"]) == ["game"]
