"""A database file that is moved, replaced or deleted under a process that uses it: nothing is acknowledged and lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.errors import StoreError
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.unit.store.small_games import game

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


def test_nothing_is_written_to_a_file_that_another_one_replaced(store: Store, place: Path) -> None:
    store.close()
    other = shutil.copyfile(place, place.with_name("other.duckdb"))
    store.ratings.add(Rating(GAME.id, "Ada", 1))
    place.rename(place.with_name("before.duckdb"))
    shutil.copyfile(other, place)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"Another file lies where the database was.* restart Dramaturg"):
            store.ratings.add(Rating(GAME.id, "Ada", 4))
        with pytest.raises(StoreError, match="Another file lies"):
            store.ratings.all()
    assert scores(place.with_name("before.duckdb")) == [1]
    assert scores(place) == []
    # Whoever starts again takes what is there.
    store.close()
    store.ratings.add(Rating(GAME.id, "Ada", 2))
    assert [rating.score for rating in store.ratings.history(GAME.id)] == [2]


def test_a_change_under_way_when_the_file_goes_is_not_acknowledged(store: Store, place: Path, tmp_path: Path) -> None:
    def rate_and_move() -> None:
        with store.unit(write=True):
            store.ratings.add(Rating(GAME.id, "Ada", 4))
            place.rename(tmp_path / "elsewhere.duckdb")

    with pytest.raises(StoreError, match="moved or deleted"):
        rate_and_move()
    (tmp_path / "elsewhere.duckdb").rename(place)
    assert store.ratings.history(GAME.id) == []


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
    assert store.ratings.history(GAME.id) == []
    assert store.ratings.add(Rating(GAME.id, "Ada", 3))


def test_a_backup_takes_the_place_of_a_database_that_is_gone(store: Store, place: Path, tmp_path: Path) -> None:
    store.backups.write(tmp_path / "backup.duckdb")
    place.unlink()
    with pytest.raises(StoreError, match=r"moved or deleted.*restart Dramaturg"):
        store.transcripts.summaries()
    assert not place.exists()
    assert store.backups.restore(tmp_path / "backup.duckdb") is None
    assert list(store.transcripts.summaries()["game_id"]) == ["game"]
