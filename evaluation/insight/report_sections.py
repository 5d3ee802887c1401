"""Report on one discussion: headings, tables and sentences made once, for Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.escaping import code, markdown_table
from evaluation.insight.evaluation_report import EvaluationReport
from evaluation.insight.extraction import Extraction, Opinion, Quote, Theme
from evaluation.insight.recommendations import (
    AGENT_HEADERS,
    UNKNOWN,
    Recommendation,
    agent_rows,
    sections,
)
from evaluation.insight.validator import ValidationResult
from evaluation.judging.protocol import JudgementStatus
from evaluation.text.display import cost_text, counted


@dataclass(frozen=True, slots=True)
class Table:
    """A table; headers are our own words, the first cell of a row names it."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = str | Table | list[Recommendation]
"""What stands in a section; a text is a paragraph."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it."""

    heading: str
    blocks: Sequence[Block]


def discussion_markdown(report: EvaluationReport) -> str:
    """The report as Markdown, of the same tables as the terminal's; text of the game stands in code spans."""
    parts = [f"# {code(report.transcript['game_id'])}"]
    parts.append("\n".join(f"- {name}: {code(value)}" for name, value in _source(report)))
    for section in document(report):
        parts.append(f"## {section.heading}")
        parts += filter(None, map(_markdown, section.blocks))
    return "\n\n".join(parts)


def _markdown(block: Block) -> str:
    if isinstance(block, Table):
        return markdown_table(block.headers, [[code(cell) for cell in row] for row in block.rows])
    if isinstance(block, list):
        return "\n".join(f"- {code(item)}" for item in block)
    return code(block)


def _source(report: EvaluationReport) -> Iterator[tuple[str, str]]:
    """The origin of the game, as far as its file says."""
    head = report.transcript
    yield "Transcript", str(head["id"])
    yield "Format", str(head["source_format"])
    if head["started_at"]:
        yield "Played", f"{datetime.fromisoformat(head['started_at']):%Y-%m-%d %H:%M %Z}".strip()


def document(report: EvaluationReport) -> list[Section]:
    """The whole report, what to look at first: of texts, tables and lists."""
    found = [Section("What to look at", [list(report.recommendations) or "Nothing stands out."])]
    found += [
        Section(heading, [Table(("What", "Figure"), lines)])
        for heading, lines in sections(report.metrics, report.shares)
    ]
    if agents := agent_rows(report.metrics):
        found.append(Section("Memory and calls by agent", [Table(AGENT_HEADERS, agents)]))
    found += [Section("Players", [_players(report)]), *_pairs(report)]
    return [*found, *_sentiment(report), *_judge(report), *_checks(report), *_extractions(report)]


def _players(report: EvaluationReport) -> Table:
    metrics = report.metrics
    network = metrics.network
    headers = ("Player", "Messages", "Addresses", "Addressed by", "Between others")
    if network is None:
        return Table(headers, ())
    others = max(1, network.nodes - 1)
    rows = [
        (
            name,
            str(metrics.messages_per_agent.get(name, 0)),
            f"{round(one.out_degree * others)} of {others}",
            f"{round(one.in_degree * others)} of {others}",
            f"{one.betweenness:.2f}",
        )
        for name, one in network.centrality.items()
    ]
    return Table(headers, rows)


def _pairs(report: EvaluationReport) -> Iterator[Section]:
    matrix = sorted(report.metrics.interaction_matrix.items(), key=lambda one: -one[1])
    if matrix:
        pairs = report.metrics.interaction_matrix
        rows = [
            (
                sender,
                receiver,
                str(count),
                "mutual" if (receiver, sender) in pairs else "one-way",
            )
            for (sender, receiver), count in matrix
        ]
        headers = ("From", "To", "Messages", "Pair")
        yield Section("Messages from one to another", [Table(headers, rows)])


def _sentiment(report: EvaluationReport) -> Iterator[Section]:
    if report.sentiment is None:
        yield Section("Sentiment", ["Not counted: the words are English, and this discussion is not."])
        return
    rows = [
        (name, f"{one.score:.2f}" if one.telling else UNKNOWN, f"{one.telling} of {one.messages}")
        for name, one in report.sentiment.items()
    ]
    note = "Words counted by a program, from 0 (negative) to 1 (positive); a message without any of them counts 0.5."
    yield Section("Sentiment", [note, Table(("Player", "Sentiment", "Messages that tell"), rows)])


def _judge(report: EvaluationReport) -> Iterator[Section]:
    if report.judge is not None:
        asked = report.asked.as_dict()
        row = (
            report.judge["kind"],
            report.judge["model"],
            f"{asked['questions']:,}",
            f"{asked['cached_answers']:,}",
            f"{asked['calls']:,}",
            f"{asked['tokens']:,}",
            cost_text(report.spent_usd),
            asked["prompt_version"],
        )
        headers = ("Kind", "Model", "Questions", "Answers kept from before", "Calls", "Tokens", "Spent now", "Prompts")
        settings = [(name, "none" if value is None else str(value)) for name, value in report.config]
        yield Section("Judge", [Table(headers, [row]), Table(("Setting", "Value"), settings)])


def _checks(report: EvaluationReport) -> Iterator[Section]:
    sample = report.sample
    if not sample.results:
        return
    notes = [
        f"{sample.checked:,} of {counted(sample.messages, 'message')} were checked, drawn with seed "
        f"{report.config.seed} from the whole discussion."
    ]
    if left := sample.drawn - sample.checked:
        notes.append(f"{left:,} more were drawn and did not fit into the budget; they have no rows.")
    shown = [one for one in sample.results if one.status is not JudgementStatus.SKIPPED]
    if skipped := len(sample.results) - len(shown):
        notes.append(f"{counted(skipped, 'check')} of the messages below did not fit into the budget either.")
    headers = ("Check", "Result", "Score", "Needed", "Player", "Message", "Why")
    yield Section("Checks", [*notes, Table(headers, [_check(one) for one in shown])])


def _check(one: ValidationResult) -> tuple[str, ...]:
    result = str(one.status).replace("_", " ") if one.passed is None else "passed" if one.passed else "failed"
    why = f"{one.explanation} ({'; '.join(one.notes)})" if one.notes else one.explanation
    return (
        one.check_type.value.replace("_", " "),
        result,
        "" if one.score is None else f"{one.score:.2f}",
        f"{one.threshold:.2f}",
        one.agent_id or "",
        one.response_excerpt,
        why,
    )


def _extractions(report: EvaluationReport) -> Iterator[Section]:
    for kind, extraction in report.extractions.items():
        blocks: list[Block] = [*_reading(extraction)]
        if extraction.found:
            headers = _HEADERS[type(extraction.found[0])]
            blocks.append(Table(headers, [_found(one) for one in extraction.found]))
        if extraction.refused:
            rows = [(one.what, one.why) for one in extraction.refused]
            blocks.append(Table(("Refused, as the text does not bear it out", "Why"), rows))
        yield Section(kind.capitalize(), blocks)


def _reading(extraction: Extraction[Any]) -> Iterator[str]:
    read = extraction.parts - len(extraction.problems)
    yield f"{len(extraction.found)} found; {read} of {extraction.parts} parts of the discussion were read."
    if extraction.shortened:
        yield f"{len(extraction.shortened)} very long messages were read in their beginning only."
    for reason in dict.fromkeys(f"{one.status}".replace("_", " ") + f": {one.detail}" for one in extraction.problems):
        yield f"Not read: {reason[:200]}."


_HEADERS: dict[type, tuple[str, ...]] = {
    Opinion: ("Player", "Stance", "Opinion", "Points", "Sure", "Messages"),
    Theme: ("Theme", "Messages", "Sentiment", "In their words"),
    Quote: ("Player", "Quote", "Relevance", "Context"),
}


def _found(one: Opinion | Theme | Quote) -> tuple[str, ...]:
    if isinstance(one, Opinion):
        points, messages = "; ".join(one.key_points), str(len(one.message_ids))
        who, summary = one.agent_id, one.summary
        return (who, one.stance, summary, points, f"{one.confidence:.2f}", messages)
    if isinstance(one, Theme):
        quotes = " / ".join(one.representative_quotes)
        return (one.name, str(one.frequency), one.sentiment, quotes)
    relevance = f"{one.relevance_score:.2f}"
    return (one.agent_id, one.content, relevance, one.context)
