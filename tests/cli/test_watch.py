"""A folder is watched while another process fills it: every file once, whatever happens to the watcher."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evaluation import Recorder
from evaluation.errors import InputError
from evaluation.readers.import_report import ImportOutcome
from evaluation.store import Store
from evaluation.workflows.watching import Watcher
from tests.long import mostly_long

_WRITES = """
import json, sys, time
from pathlib import Path
folder, count = Path(sys.argv[1]), int(sys.argv[2])
for number in range(count):
    said = [{"playerName": name, "message": f"I saw {other} at the harbour, game {number}."}
            for name, other in (("Ann", "Ben"), ("Ben", "Ann"), ("Cleo", "Ann"))]
    players = [{"name": n} for n in ("Ann", "Ben", "Cleo")]
    text = json.dumps({"gameId": f"g{number}", "players": players, "messages": said})
    place = folder / f"night-{number % 4}"
    place.mkdir(exist_ok=True)
    with (place / f"g{number}.json").open("w") as file:
        half = len(text) // 2
        file.write(text[:half])
        file.flush()
        if number % 10 == 0:
            time.sleep(0.05)
        file.write(text[half:])
"""


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path, empty_database: Path) -> Store:
    return Store(shutil.copyfile(empty_database, tmp_path / "watched.duckdb"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games").mkdir()
    return tmp_path / "games"


def put(folder: Path, name: str, words: str = "I saw Ben.") -> Path:
    players = [{"name": "Ann"}, {"name": "Ben"}]
    text = json.dumps({"gameId": name, "players": players, "messages": [{"playerName": "Ann", "message": words}]})
    (folder / f"{name}.json").write_text(text)
    return folder / f"{name}.json"


def watcher(store: Store, folder: Path, clock: Clock) -> Watcher:
    return Watcher(store, folder, iteration="Night", clock=clock)


def taken(watching: Watcher, notes: list[str] | None = None) -> list[str]:
    return [found.source_name for found in watching.look([].append if notes is None else notes.append)]


def test_a_file_is_taken_once_it_has_settled_and_never_again(store: Store, folder: Path) -> None:
    clock = Clock()
    watching = watcher(store, folder, clock)
    path = put(folder, "a")
    assert taken(watching) == []
    clock.now = 1.5
    put(folder, "a", "I saw Ben, and he saw me.")
    assert taken(watching) == []
    clock.now = 3.0
    assert taken(watching) == []
    clock.now = 4.0
    assert len(taken(watching)) == 1
    clock.now = 40.0
    assert (taken(watching), watching.waiting) == ([], 0)
    (found,) = store.transcripts.ids("Night")
    # Deleted by somebody: it does not come back when the watching begins again.
    store.deletions.delete([found], who="Lead")
    again = watcher(store, folder, clock)
    taken(again)
    clock.now = 80.0
    assert taken(again) == []
    # Changed: it is taken again.
    path.write_text(path.read_text().replace("I saw", "I heard"))
    taken(again)
    clock.now = 90.0
    assert len(taken(again)) == 1
    assert len(store.transcripts.ids("Night")) == 1


def test_what_cannot_be_read_is_said_once_and_the_others_go_on(store: Store, folder: Path) -> None:
    clock, notes = Clock(), []
    (folder / "bad.json").write_text('{"gameId": 3')
    (folder / ".hidden.json").write_text("{}")
    (folder / "link.json").symlink_to(put(folder, "good"))
    os.mkfifo(folder / "pipe.json")
    (folder / "empty.json").write_text("")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.json")).write_text("{}")
    watching = watcher(store, folder, clock)
    taken(watching, notes)
    clock.now = 5.0
    assert len(taken(watching, notes)) == 1
    assert [note for note in notes if "bad.json" in note] == notes
    assert len(notes) == 1
    (report,) = store.imports.list()
    assert [(line.name, line.outcome) for line in report.refused] == [("bad.json", ImportOutcome.REFUSED)]
    clock.now = 10.0
    assert (taken(watching, notes), len(notes)) == ([], 1)
    # A limit or a permission may have changed: who begins again looks again.
    again = watcher(store, folder, clock)
    taken(again, notes)
    clock.now = 20.0
    assert (taken(again, notes), len(notes)) == ([], 2)


class OddStore(Store):
    """Has a fault of ours for one file."""

    is_odd = True

    def written_in_bulk(self) -> AbstractContextManager[None]:
        if self.is_odd:
            raise KeyError("odd")
        return super().written_in_bulk()


def test_a_fault_of_ours_holds_up_no_other_file(tmp_path: Path, folder: Path) -> None:
    clock, notes = Clock(), []
    store = OddStore(tmp_path / "odd.duckdb")
    watching = watcher(store, folder, clock)
    put(folder, "a")
    taken(watching, notes)
    clock.now = 5.0
    assert taken(watching, notes) == []
    assert "It cannot be read: KeyError. Report it with the file." in notes[0]
    store.is_odd = False
    put(folder, "b", "I heard Ben.")
    taken(watching, notes)
    clock.now = 10.0
    assert (taken(watching, notes), len(notes)) == (["b.json"], 1)


def test_a_game_that_is_being_recorded_waits_for_its_end(store: Store, folder: Path) -> None:
    clock, notes = Clock(), []
    watching = watcher(store, folder, clock)
    with Recorder(folder, game_id="live") as recorder:
        recorder.message("Ann", "hello")
        taken(watching, notes)
        clock.now = 60.0
        assert taken(watching, notes) == []
    taken(watching, notes)
    clock.now = 70.0
    assert len(taken(watching, notes)) == 1
    assert notes == []
    (found,) = store.transcripts.ids("Night")
    assert store.transcripts.get(found).metadata == {}


def test_a_folder_that_is_not_there_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Watcher(store, tmp_path / "none")


@pytest.mark.parametrize("count", mostly_long([40, 200]))
def test_files_of_another_process_are_stored_once_each_though_the_watcher_is_killed(
    store: Store, folder: Path, count: int
) -> None:
    store.close()
    options = ["--iteration", "Night", "--settle", "0.3", "--db", str(store.path)]
    command = [sys.executable, "-m", "evaluation.cli.main", "watch", str(folder), *options]
    with subprocess.Popen([sys.executable, "-c", _WRITES, str(folder), str(count)]) as writing:
        for after in (5, count // 4):
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
                assert watching.stdout is not None
                for _ in range(after):
                    # Known already: the watcher before was killed after it had stored the game.
                    assert re.search(": (stored|known already), ", next(watching.stdout))
                watching.send_signal(signal.SIGKILL)
        assert writing.wait(60) == 0
    last = subprocess.run([*command, "--once"], capture_output=True, text=True, check=False)
    assert (last.returncode, "error" in last.stderr) == (0, False), last.stderr
    games = store.transcripts.summaries("Night")
    assert sorted(games["game_id"]) == sorted(f"g{number}" for number in range(count))
    assert set(games["messages"]) == {3}


def test_an_interrupt_ends_it_between_two_files(store: Store, folder: Path) -> None:
    put(folder, "a")
    command = [sys.executable, "-m", "evaluation.cli.main", "watch", str(folder), "--settle", "0", "--db"]
    with subprocess.Popen(
        [*command, str(store.path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        assert "a.json: stored, " in next(one.stdout)
        one.send_signal(signal.SIGTERM)
        assert one.wait(30) == 0
