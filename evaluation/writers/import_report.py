"""An import report as a file for other programs and people: JSON, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

from evaluation.errors import InputError
from evaluation.escaping import code, json_text, markdown_table
from evaluation.readers.import_report import ImportOutcome, ImportReport, ReportLine
from evaluation.text.display import counted
from evaluation.writers.tables import csv_text

_HEADERS = ("outcome", "file", "format", "players", "messages")
COLUMNS = tuple(one.name for one in fields(ReportLine))


def report_json(report: ImportReport) -> str:
    """The whole report as one object."""
    return json_text(report.as_dict()) + "\n"


def report_csv(report: ImportReport) -> str:
    """One row per game with the columns of ``ReportLine``; no cell that a spreadsheet would run as a formula."""
    import pandas as pd

    rows = [[getattr(line, name) for name in COLUMNS] for line in report.lines]
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    # Counts of refused files are empty, not NaN; the outcome is a plain word.
    table = table.astype({"players": "Int64", "messages": "Int64"})
    return csv_text(table.assign(outcome=table["outcome"].map(str)))


def report_markdown(report: ImportReport) -> str:
    """The report to read: counts first, then what was refused, then every game. Other people's text is inert in it."""
    started = report.started_at.strftime("%Y-%m-%d %H:%M UTC")
    head = [f"# Import of {started}", "", f"{counts_words(report)}{_time_words(report)}", ""]
    if report.iteration is not None:
        head += [f"Iteration: {code(report.iteration)}", ""]
    refused = [_refusal(line) for line in report.refused]
    if refused:
        head += ["## Refused", "", *refused, ""]
    rows = [_row(line) for line in report.lines if line.outcome is not ImportOutcome.REFUSED]
    games = ["## Games", "", markdown_table(_HEADERS, rows)] if rows else ["No game was read."]
    return "\n".join([*head, *games]) + "\n"


def counts_words(report: ImportReport) -> str:
    """The outcomes of the games in one sentence, zero counts left out: "3 stored, 1 refused."."""
    parts = [f"{count:,} {outcome}" for outcome, count in report.counts.items() if count]
    return f"{counted(len(report.lines), 'game')}: {', '.join(parts)}." if parts else "No file."


def _time_words(report: ImportReport) -> str:
    return "" if report.seconds is None else f" It took {report.seconds:,.1f} s."


def _refusal(line: ReportLine) -> str:
    parts = [line.message, f"Where: {line.place}." if line.place else "", line.remedy]
    return f"- {code(line.name)}: " + " ".join(code(part) for part in parts if part)


def _row(line: ReportLine) -> tuple[object, ...]:
    cells = (line.outcome, code(line.name), code(line.format or ""), line.players, line.messages)
    return tuple("" if cell is None else cell for cell in cells)


WRITERS: Mapping[str, Callable[[ImportReport], str]] = {
    "json": report_json,
    "csv": report_csv,
    "md": report_markdown,
}
"""By the ending of the file's name."""


def report_as(report: ImportReport, ending: str) -> str:
    """The report in the format that a file's name asks for by its ending, ``.json``, ``.csv`` or ``.md``.

    Raises:
        InputError: Another ending.
    """
    writer = WRITERS.get(ending.casefold().lstrip("."))
    if writer is None:
        raise InputError(
            f"A report cannot be written as {ending!r}.",
            place="--report",
            remedy=f"Let the file's name end with {', '.join(f'.{name}' for name in WRITERS)}.",
        )
    return writer(report)
