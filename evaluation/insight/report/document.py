"""The report as headings, tables and sentences, made once so that every format holds the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.insight.checks.validator import ValidationResult
from evaluation.insight.extraction.findings import Extraction, Opinion, Quote, Theme
from evaluation.insight.figures.wording import (
    AGENT_HEADERS,
    UNKNOWN,
    Cell,
    UntrustedText,
    agent_rows,
    sections,
)
from evaluation.insight.report._recommendations import Recommendation
from evaluation.insight.report.evaluation_report import EvaluationReport
from evaluation.judging.protocol import JudgementStatus
from evaluation.text.display import cost_text, counted


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table; headers are our own words."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it, in this order.

    Attributes:
        notes: Our own sentences.
        tables: Any number.
        advice: Sentences with names in them.
    """

    heading: str
    notes: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    advice: tuple[Recommendation, ...] = ()


def document(report: EvaluationReport) -> list[Section]:
    """The whole report, what to look at first."""
    notes = () if report.recommendations else ("Nothing stands out.",)
    found = [Section("What to look at", notes, advice=report.recommendations)]
    found += [
        Section(heading, tables=(ReportTable(("What", "Figure"), tuple(lines)),))
        for heading, lines in sections(report.metrics, report.shares)
    ]
    if agents := agent_rows(report.metrics):
        found.append(Section("Memory and calls by agent", tables=(ReportTable(AGENT_HEADERS, tuple(agents)),)))
    found += [Section("Players", tables=(_players(report),)), *_pairs(report)]
    return [*found, *_sentiment(report), *_judge(report), *_checks(report), *_extractions(report)]


def _players(report: EvaluationReport) -> ReportTable:
    metrics = report.metrics
    network = metrics.network
    headers = ("Player", "Messages", "Addresses", "Addressed by", "Between others")
    if network is None:
        return ReportTable(headers, ())
    others = max(1, network.nodes - 1)
    rows = [
        (
            UntrustedText(name),
            str(metrics.messages_per_agent.get(name, 0)),
            f"{round(one.out_degree * others)} of {others}",
            f"{round(one.in_degree * others)} of {others}",
            f"{one.betweenness:.2f}",
        )
        for name, one in network.centrality.items()
    ]
    return ReportTable(headers, tuple(rows))


def _pairs(report: EvaluationReport) -> Iterator[Section]:
    matrix = sorted(report.metrics.interaction_matrix.items(), key=lambda one: -one[1])
    if matrix:
        pairs = report.metrics.interaction_matrix
        rows = [
            (
                UntrustedText(sender),
                UntrustedText(receiver),
                str(count),
                "mutual" if (receiver, sender) in pairs else "one-way",
            )
            for (sender, receiver), count in matrix
        ]
        headers = ("From", "To", "Messages", "Pair")
        yield Section("Messages from one to another", tables=(ReportTable(headers, tuple(rows)),))


def _sentiment(report: EvaluationReport) -> Iterator[Section]:
    if report.sentiment is None:
        yield Section("Sentiment", ("Not counted: the words are English, and this discussion is not.",))
        return
    rows = [
        (UntrustedText(name), f"{one.score:.2f}" if one.telling else UNKNOWN, f"{one.telling} of {one.messages}")
        for name, one in report.sentiment.items()
    ]
    note = "Words counted by a program, from 0 (negative) to 1 (positive); a message without any of them counts 0.5."
    yield Section("Sentiment", (note,), (ReportTable(("Player", "Sentiment", "Messages that tell"), tuple(rows)),))


def _judge(report: EvaluationReport) -> Iterator[Section]:
    if report.judge is not None:
        asked = report.asked.as_dict()
        row = (
            report.judge["kind"],
            UntrustedText(report.judge["model"]),
            f"{asked['questions']:,}",
            f"{asked['cached_answers']:,}",
            f"{asked['calls']:,}",
            f"{asked['tokens']:,}",
            cost_text(report.spent_usd),
            asked["prompt_version"],
        )
        headers = ("Kind", "Model", "Questions", "Answers kept from before", "Calls", "Tokens", "Spent now", "Prompts")
        settings = [(name, UntrustedText("none" if value is None else str(value))) for name, value in report.config]
        yield Section(
            "Judge", tables=(ReportTable(headers, (row,)), ReportTable(("Setting", "Value"), tuple(settings)))
        )


def _checks(report: EvaluationReport) -> Iterator[Section]:
    if not report.validations:
        return
    notes = [
        f"{report.checked_messages:,} of {counted(report.messages, 'message')} were checked, drawn with seed "
        f"{report.config.seed} from the whole discussion."
    ]
    if left := report.drawn_messages - report.checked_messages:
        notes.append(f"{left:,} more were drawn and did not fit into the budget; they have no rows.")
    shown = [one for one in report.validations if one.status is not JudgementStatus.SKIPPED]
    if skipped := len(report.validations) - len(shown):
        notes.append(f"{counted(skipped, 'check')} of the messages below did not fit into the budget either.")
    headers = ("Check", "Result", "Score", "Needed", "Player", "Message", "Why")
    yield Section("Checks", tuple(notes), (ReportTable(headers, tuple([_check(one) for one in shown])),))


def _check(one: ValidationResult) -> tuple[Cell, ...]:
    result = str(one.status).replace("_", " ") if one.passed is None else "passed" if one.passed else "failed"
    why = f"{one.explanation} ({'; '.join(one.notes)})" if one.notes else one.explanation
    return (
        one.check_type.value.replace("_", " "),
        result,
        "" if one.score is None else f"{one.score:.2f}",
        f"{one.threshold:.2f}",
        UntrustedText(one.agent_id or ""),
        UntrustedText(one.response_excerpt),
        UntrustedText(why),
    )


def _extractions(report: EvaluationReport) -> Iterator[Section]:
    for kind, extraction in report.extractions.items():
        tables = [_found(extraction)] if extraction.found else []
        if extraction.refused:
            rows = tuple([(UntrustedText(one.what), UntrustedText(one.why)) for one in extraction.refused])
            tables.append(ReportTable(("Refused, as the text does not bear it out", "Why"), rows))
        yield Section(kind.capitalize(), tuple(_reading(extraction)), tuple(tables))


def _reading(extraction: Extraction[Opinion] | Extraction[Theme] | Extraction[Quote]) -> Iterator[str]:
    read = extraction.parts - len(extraction.problems)
    yield f"{len(extraction.found)} found; {read} of {extraction.parts} parts of the discussion were read."
    if extraction.shortened:
        yield f"{len(extraction.shortened)} very long messages were read in their beginning only."
    for reason in dict.fromkeys(f"{one.status}".replace("_", " ") + f": {one.detail}" for one in extraction.problems):
        yield f"Not read: {reason[:200]}."


def _found(extraction: Extraction[Opinion] | Extraction[Theme] | Extraction[Quote]) -> ReportTable:
    rows: list[tuple[Cell, ...]] = []
    headers: tuple[str, ...] = ()
    for one in extraction.found:
        if isinstance(one, Opinion):
            headers = ("Player", "Stance", "Opinion", "Points", "Sure", "Messages")
            cells: tuple[Cell, ...] = (
                UntrustedText(one.agent_id),
                one.stance,
                UntrustedText(one.summary),
                UntrustedText("; ".join(one.key_points)),
                f"{one.confidence:.2f}",
                str(len(one.message_ids)),
            )
        elif isinstance(one, Theme):
            headers = ("Theme", "Messages", "Sentiment", "In their words")
            cells = (
                UntrustedText(one.name),
                str(one.frequency),
                one.sentiment,
                UntrustedText(" / ".join(one.representative_quotes)),
            )
        else:
            headers = ("Player", "Quote", "Relevance", "Context")
            cells = (
                UntrustedText(one.agent_id),
                UntrustedText(one.content),
                f"{one.relevance_score:.2f}",
                UntrustedText(one.context),
            )
        rows.append(cells)
    return ReportTable(headers, tuple(rows))
