"""Ratings as a sheet: CSV that people fill in or keep, written and read without loss, checked line by line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from evaluation.errors import InputError
from evaluation.escaping import cut, is_formula
from evaluation.ratings import LOWEST_SCORE, QUESTION_COUNT, SCORE_REMEDY, SCORES, EngagementDecision, Rating

MAX_ROWS = 100_000
MAX_COLUMNS = 100
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_CLOCKS_APART = timedelta(days=1)
_LONGEST_SHOWN = 60

QUESTION_COLUMNS = tuple(f"question_{number}" for number in range(1, QUESTION_COUNT + 1))
COLUMNS = ("transcript_id", "game", "rater", "score", *QUESTION_COLUMNS, "comment", "rated_at")
"""In this order in a sheet that Dramaturg writes; one that people make needs ``score`` and one of the first two."""

_OTHER_NAMES = {f"answer_{number}": f"question_{number}" for number in range(1, QUESTION_COUNT + 1)} | {
    "created_at": "rated_at"
}
"""What ``dramaturg export ratings`` calls the same columns."""

_YES = frozenset({"yes", "y", "true", "1"})
_NO = frozenset({"no", "n", "false", "0"})
_NONE = frozenset({"", "-"})

# A first line as Excel writes and reads it.
_NAMED_DELIMITER = re.compile(r'"?sep=([,;\t])"?(?=\r?\n)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SheetProblem:
    """One thing in a sheet that cannot be used.

    Attributes:
        line: The first line of the row in the file, from 1; the header is 1.
        column: Its name as in the sheet; empty when the whole row or file is meant.
        value: What stands there, shortened; untrusted text.
        remedy: What to do about it.
    """

    line: int
    column: str
    value: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.column}" if self.column else "")
        what = f" {self.value!r}" if self.value else ""
        return f"{where}:{what} {self.message} {self.remedy}"


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of a sheet.

    Attributes:
        ratings: In its order, with the line of each; only those without a problem.
        problems: In its order. With any of them nothing of the sheet should be stored.
        blank: Rows without a score: not rated yet.
        read_at: When it was read: the time of ratings whose row names none, which say what the rater thinks now.
    """

    ratings: tuple[tuple[int, Rating], ...] = ()
    problems: tuple[SheetProblem, ...] = ()
    blank: int = 0
    read_at: datetime | None = None


@dataclass(slots=True)
class _Row:
    """One row, with what is wrong in it so far."""

    line: int
    cells: Mapping[str, str]
    problems: list[SheetProblem] = field(default_factory=list)

    def get(self, column: str) -> str:
        return self.cells.get(column, "").strip()

    def refuse(self, column: str, message: str, remedy: str) -> None:
        shown = cut(self.cells.get(column, ""), _LONGEST_SHOWN)
        self.problems.append(SheetProblem(self.line, column, shown, message, remedy))


def sheet_rows(
    ratings: Iterable[Rating],
    names: Mapping[str, str],
    counts: Mapping[str, str] = MappingProxyType({}),
    decisions: Mapping[str, EngagementDecision] = MappingProxyType({}),
    shown_as: Mapping[str, str] = MappingProxyType({}),
    seconds: Mapping[str, int] = MappingProxyType({}),
) -> list[dict[str, str | float | bool | None]]:
    """The ratings, a row each, for every file that has them: ``COLUMNS``, then those that are only read.

    Args:
        ratings: In any order, which is kept.
        names: The titles of the games in their files, by transcript id; for the reader's eye only.
        counts: Whether a rating counts, and why not, by token; for the same.
        decisions: Of leads that count in place of the ratings, by transcript id; for the same.
        shown_as: The names by which pages show the games, by transcript id; for the same.
        seconds: The time of first ratings at the desk, by token; for the same.

    Returns:
        Answers are true, false or ``None``, times in ISO 8601.
    """
    rows = []
    for one in ratings:
        whose = [one.transcript_id, names.get(one.transcript_id, ""), one.rater]
        held = decisions.get(one.transcript_id)
        decision = f"{held.score} by {held.who} on {held.created_at.isoformat()}: {held.reason}" if held else ""
        cells = [*whose, one.score, *one.answers, one.comment, one.created_at.isoformat()]
        cells += [counts.get(one.token, ""), decision, shown_as.get(one.transcript_id, ""), seconds.get(one.token)]
        rows.append(dict(zip(_WRITTEN_COLUMNS, cells, strict=True)))
    return rows


_WRITTEN_COLUMNS = (*COLUMNS, "counts", "decision", "shown_as", "desk_seconds")
_ANSWERS = {None: "", True: "yes", False: "no"}


def write_sheet(rows: Iterable[Mapping[str, str | float | bool | None]]) -> str:
    """The rows of :func:`sheet_rows` as CSV; :func:`read_sheet` gives back the same ratings, but for their tokens.

    Returns:
        A header and the rows; answers are yes, no or empty. Cells that a spreadsheet would run get an apostrophe in
        front.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(_WRITTEN_COLUMNS)
    for row in rows:
        cells = [_ANSWERS[cell] if cell is None or isinstance(cell, bool) else str(cell) for cell in row.values()]
        # A formula with apostrophes in front gets one more, so that taking one away gives back what was there.
        writer.writerow([f"'{cell}" if is_formula(cell.lstrip("'")) else cell for cell in cells])
    return out.getvalue()


def read_sheet(
    data: bytes, *names: Mapping[str, str], now: datetime, rater: str | None = None, is_own: bool = False
) -> Sheet:
    """The ratings in a CSV file, or everything that is wrong with it.

    Args:
        data: The file: UTF-8 with or without a mark, cells parted by commas, semicolons or tabs.
        names: What people call the stored games, by transcript id; each mapping has all of them.
        now: When it is read: the time of ratings whose row names none, or one up to a day ahead.
        rater: Whose ratings they are where the sheet does not say.
        is_own: Refuse rows of anybody but ``rater``.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remedy = 'Save it as "CSV UTF-8".'
        return Sheet(problems=(SheetProblem(line, "", "", "The file is not in UTF-8.", remedy),))
    rows = list(_rows(text))
    if len(rows) == 1 and rows[0].problems:
        return Sheet(problems=tuple(rows[0].problems))
    reader = _Reader(names[0], _by_name(names), rater, is_own, now)
    found = [(row, reader.rating(row)) for row in rows]
    ratings = tuple((row.line, rating) for row, rating in found if rating is not None)
    problems = tuple(problem for row in rows for problem in row.problems)
    blank = sum(rating is None and not row.problems for row, rating in found)
    return Sheet(ratings, problems, blank, now)


def _rows(text: str) -> Iterator[_Row]:
    """The rows by column name; a file that cannot be read at all is one row with its problem."""
    named = _NAMED_DELIMITER.match(text)
    delimiter = named[1] if named else max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        if named:
            next(reader)
        written = [name.strip().casefold() for name in next(reader, [])]
        header = [_OTHER_NAMES.get(name, name) for name in written]
        if missing := _missing(header):
            yield _broken(1, missing, f"Name the columns as an export does: {', '.join(COLUMNS)}.")
            return
        line = reader.line_num + 1
        for number, cells in enumerate(reader):
            if number >= MAX_ROWS:
                yield _broken(line, f"There are more than {MAX_ROWS:,} rows.", "Import the sheet in parts.")
                return
            if any(cell.strip() for cell in cells):
                yield _row(line, header, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        yield _broken(line, f"The row cannot be read: {error}.", "Check its quotation marks, or save it again.")


def _missing(header: list[str]) -> str:
    if len(header) > MAX_COLUMNS:
        return f"There are {len(header):,} columns."
    if "score" not in header or not {"transcript_id", "game"} & set(header):
        return "The first line must name the columns score and transcript_id (or game)."
    twice = next((name for name, count in Counter(header).items() if name and count > 1), None)
    return f"Two columns are called {twice[:_LONGEST_SHOWN]!r}." if twice else ""


def _row(line: int, header: list[str], cells: list[str]) -> _Row:
    row = _Row(line, {name: _bare(cell) for name, cell in zip(header, cells, strict=False)})
    if any(cell.strip() for cell in cells[len(header) :]):
        row.refuse("", "The row has more cells than the header.", "Put text with commas in quotation marks.")
    return row


def _bare(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and is_formula(cell.lstrip("'")) else cell


def _broken(line: int, message: str, remedy: str) -> _Row:
    return _Row(line, {}, [SheetProblem(line, "", "", message, remedy)])


def _by_name(names: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    games: dict[str, set[str]] = {}
    for transcript_id, name in (pair for each in names for pair in each.items()):
        games.setdefault(name.strip(), set()).add(transcript_id)
    return games


_FEWEST_DIGITS = 4
"""Of an id that stands for the whole one."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns rows into ratings."""

    names: Mapping[str, str]
    by_name: Mapping[str, Collection[str]]
    rater: str | None
    is_own: bool
    now: datetime

    def rating(self, row: _Row) -> Rating | None:
        """The row's rating; ``None`` with a problem, or for a row that nobody filled in."""
        if row.problems or not row.get("score"):
            return None
        transcript_id, rater, score = self._game(row), self._rater(row), _score(row)
        answers = tuple(_answer(row, column) for column in QUESTION_COLUMNS)
        rated_at = self._time(row)
        if row.problems:
            return None
        comment = row.cells.get("comment", "")
        try:
            return Rating(transcript_id, rater, score, answers, comment, rated_at)
        except InputError as error:
            row.refuse(error.place, error.message, error.remedy)
            return None

    def _game(self, row: _Row) -> str:
        column = "transcript_id" if row.get("transcript_id") else "game"
        given = row.get(column)
        named = [given] if given in self.names else [*self.by_name.get(given, ())] if column == "game" else []
        # Lists show the first digits.
        is_long = len(given) >= _FEWEST_DIGITS
        games = named or [one for one in self.names if is_long and one.startswith(given)]
        if len(games) != 1:
            why = "is the name or the beginning of several games." if games else "is not a stored game."
            row.refuse(column, why, "Write its name as the Games page shows it, or its id; import it first if need be.")
        return games[0] if games else ""

    def _rater(self, row: _Row) -> str:
        named = row.get("rater") or self.rater or ""
        if not named:
            row.refuse("rater", "Nobody is named.", "Fill the column rater in, or say whose sheet it is.")
        elif self.is_own and named != self.rater:
            row.refuse("rater", "is somebody else.", "Import only your own ratings, or ask an admin.")
        return named

    def _time(self, row: _Row) -> datetime:
        given = row.get("rated_at")
        try:
            time = datetime.fromisoformat(given) if given else self.now
        except ValueError:
            row.refuse("rated_at", "is not a time.", "Write 2026-01-31T14:05:00+00:00, or leave it empty for now.")
            return self.now
        if time.tzinfo is None:
            row.refuse("rated_at", "has no time zone.", "Add +00:00 for UTC, or your own.")
        elif not _EARLIEST <= time <= self.now + _CLOCKS_APART:
            # The latest rating counts: one from the future could never be revised.
            row.refuse("rated_at", "cannot be when somebody rated.", "Correct the time, or leave it empty for now.")
        else:
            # Ahead by a clock that goes wrong: as it stands, it would hide every revision until then.
            return min(time, self.now)
        return time


def _score(row: _Row) -> float:
    # Spreadsheets turn whole numbers into 3.0, and some into 3,0.
    found = re.fullmatch(r"([0-9])(?:[.,]([05])0*)?", row.get("score"))
    score = float(f"{found[1]}.{found[2] or 0}") if found else 0.0
    if score not in SCORES:
        row.refuse("score", "is not on the scale.", SCORE_REMEDY)
        return LOWEST_SCORE
    return score


def _answer(row: _Row, column: str) -> bool | None:
    word = row.get(column).casefold()
    if word not in _YES | _NO | _NONE:
        row.refuse(column, "is neither yes nor no.", "Write yes or no, or leave it empty.")
    return None if word in _NONE else word in _YES
