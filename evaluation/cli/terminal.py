"""Terminal output: escaped text, tables, and progress on standard error."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO, TypeVar

import typer

from evaluation.escaping import JOINERS, json_text, safe, shortened
from evaluation.progress import pace_words
from evaluation.text.display import counted

Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], object]]
"""The cell of an item, by the heading of its column."""

_CLEAR_LINE = "\r\x1b[K"


def width(text: str) -> int:
    """Columns that the text takes on a screen: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character in JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns side by side, as wide as their widest cell; every cell made :func:`safe`."""
    cells = [list(headers), *([safe(cell) for cell in row] for row in rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(headers))]
    lines = ["  ".join(_padded(cell, widths[place]) for place, cell in enumerate(row)).rstrip() for row in cells]
    rule = "  ".join("-" * each for each in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def cell_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows of cells by column as a :func:`table`; a cell that a row does not have is empty."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return table([safe(column) for column in columns], [[row.get(column, "") for column in columns] for row in rows])


def say_list(
    items: Sequence[Item],
    columns: Columns[Item],
    nothing: str = "",
    *,
    is_json: bool,
) -> None:
    """A list on standard output: as JSON, as a table, or what to tell where it is empty.

    Args:
        items: One for each row, JSON-compatible.
        columns: Of the table.
        nothing: What is told instead of an empty table.
        is_json: Whether JSON is wanted.
    """
    if is_json:
        say_json(items)
    elif items:
        say(cell_table([{heading: cell(item) for heading, cell in columns.items()} for item in items]))
    else:
        note(nothing)


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - width(cell))


def say(text: str) -> None:
    """A line on standard output."""
    typer.echo(text)


def say_json(value: object) -> None:
    """A JSON-compatible value on standard output."""
    say(json_text(value))


def say_data(text: str) -> None:
    """Lines for other programs on standard output: whole in a file or pipe, made :func:`safe` on a terminal."""
    shown = "\n".join(map(safe, text.split("\n"))) if sys.stdout.isatty() else text
    # With "color" nothing is taken out of what goes to a pipe, where it would be part of the data.
    typer.echo(shown, nl=not shown.endswith("\n"), color=True)


def note(text: str) -> None:
    """A line on standard error, made :func:`safe`: what a person should know but a program should not read."""
    over_progress = _CLEAR_LINE if sys.stderr.isatty() else ""
    typer.echo(over_progress + safe(text), err=True)


class TerminalProgress:
    """Progress of a long command on standard error: one line that rewrites itself, or ten lines in a log.

    Args:
        noun: What is counted, one of them ("game").
        stream: Standard error when left out.
        total: How many there are; 0 when that is not known.
        spent: What calls to a model cost so far, in words; nothing is said of it when left out.
    """

    def __init__(
        self, noun: str, stream: TextIO | None = None, *, total: int = 0, spent: Callable[[], str] | None = None
    ) -> None:
        self._noun = noun
        self._total = total
        self._spent = spent
        self._started_at = time.monotonic()
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty()
        self._next_report = 1
        self.done = 0

    def advance(self, label: object) -> None:
        """One more is done; ``label`` says which."""
        self.done += 1
        words = f"{self._words()}: {shortened(label, 60)}"
        if self._rewrites:
            self._stream.write(_CLEAR_LINE + words)
            self._stream.flush()
        elif self.done >= self._next_report:
            self._stream.write(words + "\n")
            # 1, 2, 5, 10, 20, 50, ...: a log of ten thousand games stays readable.
            self._next_report = _next_in_series(self.done)

    def report(self, done: int, total: int) -> None:
        """Tells of work that counts itself, as a ``ProgressCallback``; the last one ends the line."""
        if done:
            self.advance(f"{total - done} to go")
        if done == total:
            self.finish()

    def _words(self) -> str:
        """The number done; for a run that asks a model also its rate, cost and time left."""
        done = f"{self.done:,} of {counted(self._total, self._noun)}" if self._total else counted(self.done, self._noun)
        if self._spent is None:
            return f"{done} done"
        pace = pace_words(self.done, self._total, time.monotonic() - self._started_at)
        return ", ".join(filter(None, (f"{done} done", pace, self._spent())))

    def finish(self) -> None:
        """Ends the line that was being rewritten."""
        if self._rewrites and self.done:
            self._stream.write(_CLEAR_LINE)
            self._stream.flush()


def _next_in_series(reached: int) -> int:
    decade = 1
    while True:
        for step in (1, 2, 5):
            if step * decade > reached:
                return step * decade
        decade *= 10
