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


def dramaturg(*arguments: object, seconds: float = 120, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evaluation.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.duckdb")
    done = dramaturg("list", "--db", tmp_path / "pipe.duckdb")
    assert done.returncode == 3
    assert "There is a named pipe where the database file should be. Use --db to choose another file." in done.stderr


def test_a_device_is_refused() -> None:
    with pytest.raises(StoreError, match="/dev/null: There is a device where the database file should be"):
        Store("/dev/null").transcripts.summaries()


def test_links_in_a_circle_are_not_called_a_fault_of_the_product(tmp_path: Path) -> None:
    (tmp_path / "a.duckdb").symlink_to(tmp_path / "b.duckdb")
    (tmp_path / "b.duckdb").symlink_to(tmp_path / "a.duckdb")
    done = dramaturg("list", "--db", tmp_path / "a.duckdb")
    assert done.returncode == 3
    said = " ".join((done.stdout + done.stderr).split())
    assert "cannot be looked at: Too many levels of symbolic links" in said
    assert "fault in Dramaturg" not in said


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
