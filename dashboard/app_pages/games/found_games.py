"""The parts of the Games page that show the games found in files, and the files that were refused."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from dashboard.shared import state
from dashboard.shared.notices import plain
from dashboard.shared.page_links import guide_link
from dashboard.shared.status_table import pick_row, status_table
from evaluation.escaping import cut
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.progress import ProgressCallback
from evaluation.readers import NOT_READ, Limits, ReadResult, understood
from evaluation.readers.import_report import (
    ImportOutcome,
    ImportReport,
    RefusalGroup,
    ReportLine,
    kinds_words,
    left_out_words,
    planned,
    refusal_groups,
)
from evaluation.text.display import counted, shortened
from evaluation.workflows.validation import gaps

_PREVIEWED_MESSAGES = 5
_MOST_ROWS = 2000
_MOST_GROUPS = 5
_MOST_NAMES = 3
_MOST_REMARKS = 5
_MIB = 1024 * 1024
_REDRAW_SECONDS = 0.2

_MARKS = {
    ImportOutcome.NOT_STORED: "✓ new",
    ImportOutcome.KNOWN: "– stored already",
    ImportOutcome.REPEATED: "– twice in these files",
    ImportOutcome.REFUSED: "? waits for an answer",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The readers' results for each file and the action chosen for each, in the same order."""

    results: Sequence[ReadResult]
    report: ImportReport

    @classmethod
    def of(cls, results: Sequence[ReadResult], stored: Collection[str]) -> Found:
        """``stored`` holds the ids of the transcripts that the store has."""
        return cls(results, planned(results, stored))

    @property
    def games(self) -> list[tuple[ReadResult, ImportOutcome]]:
        """The games that could be read, those that wait for an answer too: new ones first, then the others."""
        pairs = zip(self.results, self.report.lines, strict=True)
        read = [(result, line.outcome) for result, line in pairs if result.transcript or result.preview]
        return sorted(read, key=lambda pair: pair[1] is not ImportOutcome.NOT_STORED)

    @property
    def refused(self) -> list[ReportLine]:
        """The files that no answer would make readable."""
        pairs = zip(self.results, self.report.lines, strict=True)
        return [line for result, line in pairs if result.error is not None and result.preview is None]

    @property
    def waiting(self) -> int:
        """Number of games that are not stored before a question about them is answered."""
        return sum(result.error is not None and result.preview is not None for result in self.results)

    @property
    def new(self) -> list[ReadResult]:
        """The games to store."""
        return [result for result, outcome in self.games if outcome is ImportOutcome.NOT_STORED]


def size_words(limits: Limits, upload_megabytes: int) -> str:
    """Size limits of files, by the settings and by the server."""
    return (
        f"Up to {upload_megabytes} MB a file or zip as it is sent, {limits.file_bytes / _MIB:,.0f} MB a transcript "
        f"file, {limits.archive_bytes / _MIB:,.0f} MB a zip once it is unpacked, {limits.messages:,} messages a game. "
        "The Settings page changes all but the first."
    )


@contextmanager
def reading(files: int) -> Iterator[ProgressCallback]:
    """A bar with counts for what reads that many files; it is gone when they are read, and never there if they were."""
    place = st.empty()
    drawn_at = -math.inf

    def show(done: int, found: int) -> None:
        nonlocal drawn_at
        now = time.monotonic()
        if now - drawn_at >= _REDRAW_SECONDS:
            drawn_at = now
            place.progress(done / files, text=reading_words(done, files, found))

    try:
        yield show
    finally:
        place.empty()


def reading_words(done: int, files: int, found: int) -> str:
    """The text above the progress bar: "Reading 300 files: 12 read, 12 games found"."""
    so_far = f": {done:,} read, {counted(found, 'game')} found" if found or done else ""
    return f"Reading {counted(files, 'file')}{so_far}"


def found_words(found: Found) -> str:
    """The counts as a sentence: "2 games to store, 1 stored already, left as it is, 1 refused."."""
    counts = found.report.counts
    known, repeated, refused = counts[ImportOutcome.KNOWN], counts[ImportOutcome.REPEATED], len(found.refused)
    waiting = counts[ImportOutcome.REFUSED] - refused
    parts = [f"{counted(counts[ImportOutcome.NOT_STORED], 'game')} to store"]
    if known:
        parts.append(f"{known} stored already, left as {'it is' if known == 1 else 'they are'}")
    if repeated:
        parts.append(f"{repeated} twice in these files, taken once")
    if waiting:
        parts.append(f"{waiting} {'waits' if waiting == 1 else 'wait'} for an answer")
    if refused:
        parts.append(f"{refused:,} refused")
    return ", ".join(parts) + "."


def show_found(found: Found, near: Mapping[str, str]) -> None:
    """The games as a table with a preview of the selected one, and the refusals, those of one reason together.

    ``near`` holds the name of the game that a new one nearly repeats, by the new one's id.
    """
    st.subheader("What is in the files", anchor=False)
    st.caption(found_words(found))
    if left_aside := sum(len(result.left_aside) for result in found.results):
        st.caption(f"{counted(left_aside, 'other file')} in the games' folders left aside: they hold no game.")
    games = found.games
    if games:
        listed_games = [_row(result, outcome, near) for result, outcome in games[:_MOST_ROWS]]
        row = pick_row(listed_games, "Games found in the files", "found_table")
        if len(games) > _MOST_ROWS:
            st.caption(f"The first {_MOST_ROWS:,} of {len(games):,} games. The report below lists all.")
        _preview(games[row or 0][0], "first" if row is None else "selected")
    show_refusals(found.refused)


def _row(result: ReadResult, outcome: ImportOutcome, near: Mapping[str, str]) -> dict[str, object]:
    transcript = result.transcript or result.preview
    assert transcript is not None
    counts = ", ".join(
        counted(len(items), name)
        for items, name in (
            (transcript.players, "player"),
            (transcript.discussion, "public message"),
            (transcript.valid_votes, "vote"),
        )
    )
    original = near.get(transcript.id)
    mark = f"≈ nearly the same as {cut(original, LONGEST_NAME)}" if original else _MARKS[outcome]
    return {"File": result.name, "Result": mark, "Recognised as": f"{result.format}: {counts}"}


def _preview(result: ReadResult, which: str) -> None:
    transcript = result.transcript or result.preview
    assert transcript is not None
    read_as = f"Read as {kinds_words(result.kinds)}." if result.kinds else ""
    lost = [one for one in result.remarks if "left out" in one or NOT_READ in one]
    kept = [one for one in result.remarks if one not in lost]
    blocks = {
        "Understood": [understood(transcript), read_as, *kept[:_MOST_REMARKS]],
        "Asked": [question.words.partition(" Understood: ")[0] for question in result.questions[:_MOST_REMARKS]],
        "Left out": list(filter(None, [left_out_words(result), *lost[:_MOST_REMARKS]])),
        "What is missing": list(gaps(transcript)),
    }
    told = {title: lines for title, lines in blocks.items() if lines}
    for column, (title, lines) in zip(st.columns(len(told)), told.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            plain("\n".join(filter(None, lines)))
    if not (blocks["Asked"] or blocks["Left out"]):
        st.caption("Nothing is asked, and nothing was left out.")
    st.caption(f"The {which} game begins so:")
    first = transcript.discussion[:_PREVIEWED_MESSAGES]
    plain("\n".join(f"{message.speaker}: {shortened(message.text, 160)}" for message in first) or "No public message.")


def show_refusals(lines: Sequence[ReportLine]) -> None:
    """Each reason with its remedy and the files that it concerns; beyond five reasons, all files in one table."""
    groups = refusal_groups(lines)
    for group in groups[:_MOST_GROUPS]:
        _refusal(group)
    if len(groups) > _MOST_GROUPS or any(len(group.lines) > _MOST_NAMES for group in groups):
        with st.expander(f"All {len(lines):,} that were refused"):
            rows = [
                {"File": line.name, "What is wrong": line.message, "Where": line.place, "What to do": line.remedy}
                for line in lines[:_MOST_ROWS]
            ]
            status_table(rows, "What was refused, with the reason, the place and the remedy")


def _refusal(group: RefusalGroup) -> None:
    count = len(group.lines)
    with st.container(border=True):
        st.badge("✗ refused" if count == 1 else f"✗ {count:,} refused", color="red")
        named = group.lines[:_MOST_NAMES]
        rest = [f"and {count - _MOST_NAMES} more"] if count > _MOST_NAMES else []
        plain("\n".join([*(_name_and_place(line, alone=count == 1) for line in named), *rest]))
        if words := group.page_remedy:
            plain(f"What to do: {words}")
        if group.is_unknown:
            guide_link("All formats, with examples", state.FORMATS)
        plain(f"Why: {group.message}")
        if count == 1 and group.lines[0].place:
            plain(f"Where: {group.lines[0].place}")


def _name_and_place(line: ReportLine, *, alone: bool) -> str:
    return line.name if alone or not line.place else f"{line.name}, {line.place}"
