"""Render the report as Markdown, and as one HTML file that loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.escaping import code, html_text, markdown_table
from evaluation.insight.figures.wording import Cell, UntrustedText, cell_text
from evaluation.insight.network.drawing import graph_svg
from evaluation.insight.report._recommendations import Recommendation
from evaluation.insight.report.document import ReportTable, Section, document
from evaluation.insight.report.evaluation_report import EvaluationReport


def markdown(report: EvaluationReport) -> str:
    """The report for a pull request or a wiki; untrusted text stands in code spans."""
    lines = [f"# {code(str(report.transcript['game_id']))}"]
    for section in document(report):
        lines.append(f"\n## {section.heading}\n")
        lines += section.notes
        lines += [
            f"\n{_markdown_table(table)}" if section.notes else _markdown_table(table) for table in section.tables
        ]
        lines += [f"- {_sentence(one)}" for one in section.advice]
    return "\n".join(lines) + "\n"


def _sentence(one: Recommendation) -> str:
    return one.words.replace("{names}", ", ".join(code(name) for name in one.names))


def _markdown_table(table: ReportTable) -> str:
    return markdown_table(table.headers, [[_markdown_cell(cell) for cell in row] for row in table.rows])


def _markdown_cell(cell: Cell) -> str:
    return code(cell.text) if isinstance(cell, UntrustedText) else cell


def html_page(report: EvaluationReport) -> str:
    """The report as a page of its own: no scripts, no addresses, and a policy that forbids both."""
    name = html_text(str(report.transcript["game_id"]))
    body = "".join(_html_section(section, report) for section in document(report))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><title>{name}</title><style>{_STYLE}</style></head>\n'
        f"<body><main><h1>{name}</h1>{body}</main></body></html>\n"
    )


def _html_section(section: Section, report: EvaluationReport) -> str:
    return "".join(_html_parts(section, report))


def _html_parts(section: Section, report: EvaluationReport) -> Iterator[str]:
    yield f"<section><h2>{section.heading}</h2>"
    if section.heading == "Players":
        yield graph_svg(report.metrics)
    yield from (f"<p>{html_text(note)}</p>" for note in section.notes)
    yield from (_html_table(table, section.heading) for table in section.tables)
    if section.advice:
        items = (
            html_text(one.words).replace("{names}", ", ".join(f"<b>{html_text(name)}</b>" for name in one.names))
            for one in section.advice
        )
        yield "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
    yield "</section>\n"


def _html_table(table: ReportTable, caption: str) -> str:
    head = "".join(f'<th scope="col">{header}</th>' for header in table.headers)
    rows = "".join("<tr>" + "".join(f"<td>{_html_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _html_cell(cell: Cell) -> str:
    return html_text(cell_text(cell))


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}"
    "main{max-width:60rem;margin:0 auto;padding:1rem}h1{overflow-wrap:anywhere}"
    ".wide{overflow-x:auto;margin:.5rem 0}table{border-collapse:collapse}"
    "th,td{border:1px solid #8888;padding:.25rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
    "min-width:3rem}"
    "svg{max-width:100%;min-width:40rem;height:auto;overflow:visible;margin:2.5rem 0 1rem}"
    "svg text{font:13px system-ui,sans-serif;fill:currentColor}svg .dot{fill:#6d63e0}"
    "svg .arrow{fill:none;stroke:currentColor;opacity:.45}svg marker path{fill:currentColor}"
)
