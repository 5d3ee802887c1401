"""``dramaturg demo``: games that are played end up in the dashboard's database, and playing ends with the server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evaluation.readers import read_path
from evaluation.store import Store
from evaluation.workflows.projects.demo import play, scripted_games
from tests.browser.conftest import free_port

PATIENCE_SECONDS = 120


def test_a_played_game_is_the_script(tmp_path: Path) -> None:
    script, lines = scripted_games()[0], []
    path = play(tmp_path, script, "again", lambda: True, lines.append)
    [read] = list(read_path(path))
    played = read.transcript
    assert played is not None
    assert [(m.speaker, m.text, m.reply_to) for m in played.messages] == [
        (m.speaker, m.text, m.reply_to) for m in script.messages
    ]
    assert [(v.voter, v.target) for v in played.votes] == [(v.voter, v.target) for v in script.votes]
    assert {p.name: p.role for p in played.players} == {p.name: p.role for p in script.players}
    assert len(lines) == len(script.messages)


@pytest.mark.long
def test_what_is_played_arrives_in_the_database(tmp_path: Path) -> None:
    database, port = tmp_path / "demo.duckdb", free_port()
    command = [sys.executable, "-m", "evaluation.cli.main", "demo", "--games", "1", "--pace", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pause = threading.Event()
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--db", str(database)], env=environment, stdout=log, stderr=log
        )
    try:
        for _ in range(PATIENCE_SECONDS * 5):
            assert server.poll() is None, (tmp_path / "log").read_text("utf-8")
            if database.exists() and (found := Store(database).transcripts.ids()):
                break
            pause.wait(0.2)
        assert Store(database).transcripts.ids("Demo") == found
        assert "Game 1 has ended" in (tmp_path / "log").read_text("utf-8")
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)


def test_the_player_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    # No process has that number: for the player, its parent has gone.
    player = ["evaluation.workflows.projects.demo", str(tmp_path), "0", "100", "-1"]
    done = subprocess.run([sys.executable, "-m", *player], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 2
    assert [len(read.transcript.messages) for read in read_path(tmp_path) if read.transcript] == [1]
