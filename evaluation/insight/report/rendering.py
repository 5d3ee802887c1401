"""Render the report as Markdown, and as one HTML file that loads nothing and runs no script."""

from __future__ import annotations

from datetime import UTC, datetime

from evaluation.escaping import code, markdown_table
from evaluation.files.html_templates import render
from evaluation.insight.figures.wording import Cell, UntrustedText, cell_text
from evaluation.insight.report.document import ReportTable, document
from evaluation.insight.report.evaluation_report import EvaluationReport


def _source(report: EvaluationReport) -> list[tuple[str, str]]:
    """The origin of the game, as far as its file says."""
    head = report.transcript
    found = [("Transcript", str(head["id"])), ("Format", str(head["source_format"]))]
    if head["started_at"]:
        found.append(("Played", f"{datetime.fromisoformat(head['started_at']):%Y-%m-%d %H:%M %Z}".strip()))
    return found


def _made_words(made_at: datetime | None) -> str:
    return f"Made with Dramaturg on {made_at or datetime.now(UTC):%Y-%m-%d at %H:%M} UTC."


def markdown(report: EvaluationReport, made_at: datetime | None = None) -> str:
    """The report for a pull request or a wiki; untrusted text stands in code spans.

    Args:
        report: What to show.
        made_at: When; now when left out.
    """
    lines = [f"# {code(str(report.transcript['game_id']))}\n", _made_words(made_at)]
    lines.append(" ".join(f"{name}: {code(value)}." for name, value in _source(report)))
    for section in document(report):
        lines.append(f"\n## {section.heading}\n")
        lines += section.notes
        lines += [
            f"\n{_markdown_table(table)}" if section.notes else _markdown_table(table) for table in section.tables
        ]
        names = [", ".join(map(code, one.names)) for one in section.advice]
        lines += [f"- {one.words.replace('{names}', who)}" for one, who in zip(section.advice, names, strict=True)]
    return "\n".join(lines) + "\n"


def _markdown_table(table: ReportTable) -> str:
    return markdown_table(table.headers, [[_markdown_cell(cell) for cell in row] for row in table.rows])


def _markdown_cell(cell: Cell) -> str:
    return code(cell.text) if isinstance(cell, UntrustedText) else cell


def html_page(report: EvaluationReport, made_at: datetime | None = None) -> str:
    """The report as a page of its own: no scripts, no addresses, and a policy that forbids both.

    Args:
        report: What to show.
        made_at: When; now when left out.
    """
    return render(
        "insight/report/templates/insights.html.j2",
        title=str(report.transcript["game_id"]),
        made=_made_words(made_at),
        source=_source(report),
        sections=document(report),
        cell_text=cell_text,
    )
