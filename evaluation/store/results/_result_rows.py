"""Convert metric results to rows and back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Evidence, LedgerRow, Method, MetricDefinition, MetricResult, RowVerdict, Status
from evaluation.store.engine.bulk_rows import from_json, packed, to_json

LEDGER_COLUMNS = (
    "row_id",
    "kind",
    "verdict",
    "message_id",
    "player",
    "numerator",
    "denominator",
    "method",
    "reason",
    "evidence",
    "refers_to",
    "details",
)

RESULT_COLUMNS = (
    "result_id",
    "metric",
    "version",
    "status",
    "score",
    "numerator",
    "denominator",
    "threshold",
    "reason",
    "notes",
    "details",
    "control",
)


def ledger_values(row: LedgerRow) -> tuple[Any, ...]:
    """A ledger row in the order of ``LEDGER_COLUMNS``."""
    return (
        row.id,
        row.kind,
        row.verdict.value,
        row.message_id,
        row.player,
        row.numerator,
        row.denominator,
        row.method.value,
        row.reason,
        to_json([evidence.as_dict() for evidence in row.evidence]),
        row.refers_to,
        to_json(dict(row.details)),
    )


def ledger_row(values: tuple[Any, ...]) -> LedgerRow:
    """The ledger row that ``ledger_values`` took apart."""
    row_id, kind, verdict, message_id, player, numerator, denominator, method, reason, evidence, refers_to, details = (
        values
    )
    return LedgerRow(
        row_id,
        kind,
        RowVerdict(verdict),
        reason,
        message_id=message_id,
        player=player,
        numerator=numerator,
        denominator=denominator,
        method=Method(method),
        evidence=tuple(Evidence(**span) for span in from_json(evidence) or ()),
        refers_to=refers_to,
        details=from_json(details) or {},
    )


def result_values(result: MetricResult) -> dict[str, Any]:
    """A result's own row, without ids."""
    return {
        "metric": result.name,
        "version": result.definition.version,
        "method": result.method.value,
        "status": result.status.value,
        "score": result.score,
        "numerator": float(result.numerator),
        "denominator": float(result.denominator),
        "threshold": float(result.threshold),
        "reason": result.reason,
        "notes": list(result.notes),
        "details": to_json(dict(result.details)),
        "control": to_json(None if result.control is None else dict(result.control)),
    }


def metric_result(row: Mapping[str, Any], ledger: tuple[LedgerRow, ...]) -> MetricResult:
    """The result whose columns are in ``row``."""
    return MetricResult(
        definition=definition_of(row["metric"], row["version"]),
        status=Status(row["status"]),
        score=row["score"],
        numerator=row["numerator"],
        denominator=row["denominator"],
        threshold=row["threshold"],
        ledger=ledger,
        reason=row["reason"],
        notes=tuple(row["notes"]),
        details=from_json(row["details"]) or {},
        control=from_json(row["control"]),
    )


def rest_of(numerator: float, denominator: float, rows: Sequence[LedgerRow]) -> LedgerRow:
    """One row of weight that stands for all rows of a ledger but ``rows``, where the whole need not be read.

    Args:
        numerator: Of the result.
        denominator: Of the result.
        rows: The rows that are read, as the rule left them.
    """
    return LedgerRow(
        "",
        "",
        RowVerdict.COUNTS,
        "",
        numerator=numerator - sum(row.numerator for row in rows),
        denominator=denominator - sum(row.denominator for row in rows),
    )


def definition_of(metric: str, version: str) -> MetricDefinition:
    """The metric's definition, marked with the version by which a stored result was computed."""
    definition = DEFINITIONS[metric]
    return definition if definition.version == version else replace(definition, version=version)


def digest(values: Mapping[str, Any], ledger: Iterable[list[tuple[Any, ...]]]) -> str:
    """The same for two results exactly when every column and every ledger row is the same.

    Args:
        values: The columns.
        ledger: Its rows in order, in lists of any length: only one of them need be in memory.
    """
    # Of the JSON text [values, rows], made list by list.
    hashed = hashlib.blake2b(b"[" + packed(values) + b",[", digest_size=16)
    before = b""
    for rows in ledger:
        if rows:
            hashed.update(before + packed(rows)[1:-1])
            before = b","
    hashed.update(b"]]")
    return hashed.hexdigest()
