"""Reports on imports: what became of every file, to look at after a reload and to save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.transcripts.add_games.found_games import show_refusals
from dashboard.shared.formatting import duration_text
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.readers.import_report import ImportOutcome, ImportReport, ReportLine
from evaluation.writers.import_report import counts_words, report_csv, report_json, report_markdown

_MOST_ROWS = 2000
_MARKS = {ImportOutcome.STORED: "✓", ImportOutcome.REFUSED: "✗", ImportOutcome.NOT_STORED: "…"}
_FORMATS = (
    ("JSON", "json", "application/json", report_json),
    ("CSV", "csv", "text/csv", report_csv),
    ("Markdown", "md", "text/markdown", report_markdown),
)


def earlier_imports(reports: Sequence[ImportReport]) -> None:
    """The latest imports, one of them opened; nothing when there was none."""
    if not reports:
        return
    st.subheader(
        "Imports", anchor=False, help="The latest hundred, from this page, the command line and watched folders."
    )
    chosen = st.selectbox(
        "Import", reports, format_func=report_title, key="import_report", label_visibility="collapsed"
    )
    # The title of an import that goes on changes when it ends, and with it what was chosen.
    report = chosen if chosen in reports else reports[0]
    if report.iteration is not None:
        plain(f"Into the iteration: {report.iteration}")
    st.caption(_state_words(report))
    save_buttons(report, f"report_{reports.index(report)}")
    show_refusals(report.refused)
    with st.expander("Every file"):
        rows = [_row(line) for line in report.lines[:_MOST_ROWS]]
        status_table(pd.DataFrame(rows), "Every file of the import and what became of it")
        if len(report.lines) > _MOST_ROWS:
            st.caption(f"The first {_MOST_ROWS:,} of {len(report.lines):,}; a saved report has all.")


def report_title(report: ImportReport) -> str:
    """An import in a list: "2026-01-31 12:00 UTC, upload: 3 stored, 1 refused"; words of our own only."""
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in report.counts.items() if count) or "no file"
    state = "going on" if report.seconds is None else counts
    # Seconds keep two imports of one minute apart.
    return f"{report.started_at:%Y-%m-%d %H:%M:%S} UTC, {report.source}: {state}"


def _state_words(report: ImportReport) -> str:
    if report.seconds is None:
        return f"{counts_words(report)} It has not come to its end yet."
    return f"{counts_words(report)} It took {duration_text(report.seconds)}."


def save_buttons(report: ImportReport, key: str) -> None:
    """Buttons that save the report as a file; ``key`` keeps several sets of them apart."""
    with st.container(horizontal=True):
        for label, ending, mime, write in _FORMATS:
            access_checks.download_button(
                "import_report",
                f"Save as {label}",
                partial(_written, write, report),
                f"import-{report.started_at:%Y%m%d-%H%M%S}.{ending}",
                mime,
                key=f"{key}_{ending}",
            )


def _written(write: Callable[[ImportReport], str], report: ImportReport) -> bytes:
    # On the click: a report on thousands of files need not be made at every rerun.
    return write(report).encode("utf-8")


def _row(line: ReportLine) -> dict[str, object]:
    return {
        "Result": f"{_MARKS.get(line.outcome, '–')} {line.outcome}",
        "File": line.name,
        "Recognised as": line.format,
        "Players": line.players,
        "Messages": line.messages,
        "Remark": " ".join(filter(None, (line.message, line.place, line.remedy))),
    }
