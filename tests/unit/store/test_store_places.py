"""Odd places for a database: pipes, links in circles, folders where nothing can be written, disks that are full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.errors import StoreError
from evaluation.store import Store
from tests.unit.store.small_games import game

GAME = game("game")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.duckdb")
    (tmp_path / "a.duckdb").symlink_to(tmp_path / "b.duckdb")
    (tmp_path / "b.duckdb").symlink_to(tmp_path / "a.duckdb")
    for place, told in (
        (tmp_path / "pipe.duckdb", r"There is a named pipe where the database file should be\..*--db"),
        ("/dev/null", "/dev/null: There is a device where the database file should be"),
        (tmp_path / "a.duckdb", "cannot be looked at: Too many levels of symbolic links"),
    ):
        with pytest.raises(StoreError, match=told):
            Store(place).transcripts.summaries()


READ = """
import ctypes, sys
from pathlib import Path
# The rights of files hold for an administrator, too, once all capabilities are given up.
assert ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()) == 0
from evaluation.errors import StoreError
from evaluation.store import Store
store = Store(sys.argv[1])
print(list(store.transcripts.summaries()["game_id"]), store.transcripts.get(sys.argv[2]).game_id)
print(store.settings.get("key"))
print(store.backups.write(Path(sys.argv[3])).transcripts)
try:
    store.settings.set("key", 2)
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("is_whole_folder", [True, False])
def test_a_database_that_may_only_be_read_is_read_and_backed_up(tmp_path: Path, is_whole_folder: bool) -> None:
    folder, outside = tmp_path / "read-only", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    store = Store(folder / "a.duckdb")
    store.transcripts.add(GAME, source_name="f")
    store.settings.set("key", 1)
    store.close()
    (folder / "a.duckdb").chmod(0o444)
    if is_whole_folder:
        folder.chmod(0o555)
    command = [sys.executable, "-c", READ, str(folder / "a.duckdb"), GAME.id, str(outside / "copy.duckdb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert done.stderr == ""
    assert done.stdout.splitlines()[:3] == ["['game'] game", "1", "1"]
    assert "a.duckdb: The database may only be read there; nothing was stored. Copy it" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["a.duckdb"]


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
