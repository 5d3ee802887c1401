"""What CSV and JSON with other people's text do to a real terminal, and what a file or pipe gets of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.escaping import without_controls
from evaluation.ratings import Rating
from evaluation.store import Store

SLY = "Good\x1b[31m game\x1b]0;owned\x07 \x9b2J, said \u202eeve\u2066"
STEERING = {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"}


@pytest.fixture
def sly(run: Any, write_game: Any, database: Path) -> Path:
    """A database with a rating whose comment tries to steer the reader's terminal, in a file of such a name."""
    path = write_game().rename(write_game().parent / f"{SLY.replace('/', '')}.json")
    run("import", path)
    store = Store(database)
    store.ratings.add(Rating(str(store.transcripts.summaries()["transcript_id"].iloc[0]), "Ann", 4, comment=SLY))
    store.close()
    return database


def command_line(database: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "evaluation.cli.main", *words, "--db", str(database)]


def on_terminal(command: list[str]) -> str:
    """What the command writes when its standard output is a terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    shown = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:
            # How Linux says that the other end of a terminal is closed.
            break
        if not part:
            break
        shown += part
    os.close(reader)
    assert process.wait(timeout=60) == 0
    return shown.decode("utf-8")


def test_csv_is_harmless_on_a_terminal_and_in_a_pipe(run: Any, sly: Path) -> None:
    # No cell holds control characters; marks that turn text around stay in a pipe.
    for words, stored in (
        (("export", "ratings"), "Good game]0;owned 2J, said \u202eeve\u2066"),
        (("export", "results"), without_controls(SLY)),
    ):
        shown = on_terminal(command_line(sly, *words))
        assert "Good" in shown
        assert not set(shown) & STEERING
        assert stored in run(*words).stdout
