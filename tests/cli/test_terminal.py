"""Other people's text on a terminal: harmless, aligned, and progress beside it; what a file or pipe gets of it."""

import io
import os
import pty
import subprocess
import sys
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.cli.terminal import TerminalProgress, safe, shortened, table, width
from evaluation.escaping import without_controls
from evaluation.ratings import Rating
from evaluation.store import Store


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("two\nlines\tand\rmore", "two lines and more"),
        ("left\u202eright\u200b", "leftright"),
        ("half\ud800pair", "halfpair"),
        ("Zoë 李 👩\u200d🚀", "Zoë 李 👩\u200d🚀"),
    ],
)
def test_what_could_steer_a_terminal_is_taken_out(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_nothing_harmful_survives_and_safe_text_stays(text: str) -> None:
    shown = safe(text)
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in shown)
    assert safe(shown) == shown


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("李", 2), ("e\u0301", 1), ("", 0)])
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_tables_align_wide_letters_and_long_text_is_cut() -> None:
    lines = table(("Name", "Score"), [("李", 1), (shortened("abcdefg", 6), 22)]).splitlines()
    assert lines == ["Name    Score", "------  -----", "李      1", "abcde…  22"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_rewrites_one_line_on_a_terminal() -> None:
    stream = Terminal()
    progress = TerminalProgress("game", stream)
    progress.advance("a")
    progress.advance("b\x1b[2J")
    progress.finish()
    assert stream.getvalue() == "\r\x1b[K1 game done: a\r\x1b[K2 games done: b\r\x1b[K"


def test_progress_in_a_log_gets_rarer() -> None:
    stream = io.StringIO()
    progress = TerminalProgress("game", stream)
    for _ in range(100):
        progress.advance("file")
    progress.finish()
    assert [int(line.split()[0]) for line in stream.getvalue().splitlines()] == [1, 2, 5, 10, 20, 50, 100]


SLY = "Good\x1b[31m game\x1b]0;owned\x07 \x9b2J, said \u202eeve\u2066"
STEERING = {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"}


def on_terminal(command: list[str]) -> str:
    """What the command writes when its standard output is a terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    shown = b""
    # Linux says by an error that the other end of a terminal is closed.
    with suppress(OSError):
        while part := os.read(reader, 65536):
            shown += part
    os.close(reader)
    assert process.wait(timeout=60) == 0
    return shown.decode("utf-8")


def test_csv_is_harmless_on_a_terminal_and_in_a_pipe(run: Any, write_game: Any, database: Path) -> None:
    path = write_game()
    run("import", path.rename(path.with_name(f"{SLY}.json")))
    store = Store(database)
    store.ratings.add(Rating(store.transcripts.ids()[0], "Ann", 4, comment=SLY))
    store.close()
    shown = on_terminal([sys.executable, "-m", "evaluation.cli.main", "export", "ratings", "--db", str(database)])
    assert "Good" in shown
    assert not set(shown) & STEERING
    # No cell holds control characters; marks that turn text around stay in a pipe.
    assert "Good game]0;owned 2J, said \u202eeve\u2066" in run("export", "ratings").stdout
    assert without_controls(SLY) in run("export", "results").stdout
