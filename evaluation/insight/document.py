"""The report as headings, tables and sentences: made once, so that every form of it holds the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.insight.evaluation_report import EvaluationReport
from evaluation.insight.figures import UNKNOWN, Cell, Foreign, sections
from evaluation.insight.findings import Extraction, Opinion, Quote, Theme
from evaluation.insight.recommendations import Recommendation
from evaluation.insight.validation import ValidationResult


@dataclass(frozen=True, slots=True)
class Table:
    """A table; headers are words of ours."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it, in this order.

    Attributes:
        notes: Sentences of ours.
        tables: Any number.
        advice: Sentences with names in them.
    """

    heading: str
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    advice: tuple[Recommendation, ...] = ()


def document(report: EvaluationReport) -> list[Section]:
    """The whole report."""
    found = [
        Section(heading, tables=(Table(("What", "Figure"), tuple(lines)),))
        for heading, lines in sections(report.metrics)
    ]
    found += [Section("Players", tables=(_players(report),)), *_pairs(report)]
    found += [*_sentiment(report), *_judge(report), *_checks(report), *_extractions(report)]
    notes = () if report.recommendations else ("Nothing stands out.",)
    return [*found, Section("What to look at", notes, advice=report.recommendations)]


def _players(report: EvaluationReport) -> Table:
    metrics = report.metrics
    network = metrics.network
    headers = ("Player", "Messages", "Addresses", "Addressed by", "Between others", "Attention", "Closeness")
    if network is None:
        return Table(headers, ())
    others = max(1, network.nodes - 1)
    rows = [
        (
            Foreign(name),
            str(metrics.messages_per_agent.get(name, 0)),
            f"{round(one.out_degree * others)} of {others}",
            f"{round(one.in_degree * others)} of {others}",
            f"{one.betweenness:.2f}",
            f"{one.pagerank:.0%}",
            f"{one.closeness:.2f}",
        )
        for name, one in network.centrality.items()
    ]
    return Table(headers, tuple(rows))


def _pairs(report: EvaluationReport) -> Iterator[Section]:
    matrix = sorted(report.metrics.interaction_matrix.items(), key=lambda one: -one[1])
    if matrix:
        rows = [(Foreign(sender), Foreign(receiver), str(count)) for (sender, receiver), count in matrix]
        yield Section("Messages from one to another", tables=(Table(("From", "To", "Messages"), tuple(rows)),))


def _sentiment(report: EvaluationReport) -> Iterator[Section]:
    if report.sentiment is None:
        yield Section("Sentiment", ("Not counted: the words are English, and this discussion is not.",))
        return
    rows = [
        (Foreign(name), f"{one.score:.2f}" if one.telling else UNKNOWN, f"{one.telling} of {one.messages}")
        for name, one in report.sentiment.items()
    ]
    note = "Words counted by a program, from 0 (negative) to 1 (positive); a message without any of them counts 0.5."
    yield Section("Sentiment", (note,), (Table(("Player", "Sentiment", "Messages that tell"), tuple(rows)),))


def _judge(report: EvaluationReport) -> Iterator[Section]:
    if report.judge is not None:
        row = (report.judge["kind"], Foreign(report.judge["model"]), f"{report.spent_usd:.4f} USD")
        yield Section("Judge", tables=(Table(("Kind", "Model", "Spent now"), (row,)),))


def _checks(report: EvaluationReport) -> Iterator[Section]:
    if not report.validations:
        return
    notes = (f"{report.checked_messages} of {report.messages} messages, drawn with seed {report.config.seed}.",)
    headers = ("Check", "Result", "Score", "Needed", "Player", "Message", "Why")
    yield Section("Checks", notes, (Table(headers, tuple([_check(one) for one in report.validations])),))


def _check(one: ValidationResult) -> tuple[Cell, ...]:
    result = str(one.status).replace("_", " ") if one.passed is None else "passed" if one.passed else "failed"
    why = f"{one.explanation} ({'; '.join(one.notes)})" if one.notes else one.explanation
    return (
        one.check_type.value.replace("_", " "),
        result,
        "" if one.score is None else f"{one.score:.2f}",
        f"{one.threshold:.2f}",
        Foreign(one.agent_id or ""),
        Foreign(one.response_excerpt),
        Foreign(why),
    )


def _extractions(report: EvaluationReport) -> Iterator[Section]:
    for kind, extraction in report.extractions.items():
        tables = [_found(extraction)] if extraction.found else []
        if extraction.refused:
            rows = tuple([(Foreign(one.what), Foreign(one.why)) for one in extraction.refused])
            tables.append(Table(("Refused, as the text does not bear it out", "Why"), rows))
        yield Section(kind.capitalize(), tuple(_reading(extraction)), tuple(tables))


def _reading(extraction: Extraction[Opinion] | Extraction[Theme] | Extraction[Quote]) -> Iterator[str]:
    read = extraction.parts - len(extraction.problems)
    yield f"{len(extraction.found)} found; {read} of {extraction.parts} parts of the discussion were read."
    if extraction.shortened:
        yield f"{len(extraction.shortened)} very long messages were read in their beginning only."
    for reason in dict.fromkeys(f"{one.status}".replace("_", " ") + f": {one.detail}" for one in extraction.problems):
        yield f"Not read: {reason[:200]}."


def _found(extraction: Extraction[Opinion] | Extraction[Theme] | Extraction[Quote]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    headers: tuple[str, ...] = ()
    for one in extraction.found:
        if isinstance(one, Opinion):
            headers = ("Player", "Stance", "Opinion", "Points", "Sure", "Messages")
            cells: tuple[Cell, ...] = (
                Foreign(one.agent_id),
                one.stance,
                Foreign(one.summary),
                Foreign("; ".join(one.key_points)),
                f"{one.confidence:.2f}",
                str(len(one.message_ids)),
            )
        elif isinstance(one, Theme):
            headers = ("Theme", "Messages", "Sentiment", "In their words")
            cells = (
                Foreign(one.name),
                str(one.frequency),
                one.sentiment,
                Foreign(" / ".join(one.representative_quotes)),
            )
        else:
            headers = ("Player", "Quote", "Relevance", "Context")
            cells = (Foreign(one.agent_id), Foreign(one.content), f"{one.relevance_score:.2f}", Foreign(one.context))
        rows.append(cells)
    return Table(headers, tuple(rows))
