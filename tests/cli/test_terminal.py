"""Other people's text on a terminal: harmless, aligned, and progress beside it."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.cli.terminal import TerminalProgress, code, markdown_table, safe, shortened, table, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("two\nlines\tand\rmore", "two lines and more"),
        ("left\u202eright", "leftright"),
        ("zero\u200bwidth", "zerowidth"),
        ("c1\x9b31m", "c131m"),
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


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("李", 2), ("e\u0301", 1), ("", 0)])
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_tables_align_wide_letters_too() -> None:
    assert table(("Name", "Score"), [("李", 1), ("Ann", 22)]).splitlines() == [
        "Name  Score",
        "----  -----",
        "李    1",
        "Ann   22",
    ]


def test_markdown_cells_cannot_leave_their_cell() -> None:
    row = markdown_table(("Name",), [(code("a|b`c\n<img src=x>"),)]).splitlines()[2]
    assert row == "| `a\\|b'c <img src=x>` |"
    assert code("") == ""
    # In a table "\\\\|" is a backslash and the end of a cell.
    assert code("a\\|[x](http://evil)") == "`a/\\|[x](http://evil)`"


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
    for number in range(1, 101):
        progress.advance(f"file {number}")
    progress.finish()
    reported = [int(line.split()[0]) for line in stream.getvalue().splitlines()]
    assert reported == [1, 2, 5, 10, 20, 50, 100]
