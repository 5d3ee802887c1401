"""Convert metric results to rows of plain values, which another process can send, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from evaluation.rubric.controls import without_control
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS, ENGAGEMENT
from evaluation.rubric.rows_in_doubt import review_items
from evaluation.score import Evidence, LedgerRow, Method, MetricResult, RowVerdict, Status
from evaluation.store._bulk_rows import from_json, packed, picked, to_json

if TYPE_CHECKING:
    from evaluation.engines.scoring import ScoreFailure
    from evaluation.rubric.link_strength import Link
    from evaluation.rubric.verdict import Verdict
    from evaluation.store.transcript_rows import TranscriptRows

LEDGER_COLUMNS = (
    *("row_id", "kind", "verdict", "message_id", "player", "numerator", "denominator", "method"),
    *("reason", "evidence", "refers_to", "details"),
)
_LEDGER_VALUES = attrgetter(
    *("id", "kind", "verdict.value", "message_id", "player", "numerator", "denominator", "method.value"),
    *("reason", "evidence", "refers_to", "details"),
)
_SCORE_COLUMNS = ("score", "numerator", "denominator", "status", "threshold", "method", "version", "reason")

Columns = dict[str, Any]


class RowVerdicts(NamedTuple):
    """A row that a judge or a person decided, with the verdicts as they are stored; ``None`` for none.

    The rule's are those of the current ledger; all fields after ``judge_reason`` are its, too.
    """

    transcript_id: str
    metric: str
    row_id: str
    rule: str | None
    judge: str | None
    judge_reason: str | None
    message_id: str | None
    player: str | None
    numerator: float | None
    denominator: float | None
    rule_reason: str | None


@dataclass(frozen=True, slots=True)
class ResultRows:
    """A computed result as rows, with the digest by which an equal one is recognised.

    Attributes:
        transcript_id: The transcript that it belongs to.
        values: The columns of ``metric_results`` without the ids.
        ledger: The rows of its ledger in order, each in the order of ``LEDGER_COLUMNS``.
        digest: Hexadecimal; the same for two results exactly when every column and every ledger row is the same.
        score: The row of ``current_scores`` while nobody decides otherwise.
        in_doubt: The rows of ``rows_in_doubt`` until then.
    """

    transcript_id: str
    values: Columns
    ledger: list[tuple[Any, ...]]
    digest: str
    score: Columns
    in_doubt: list[Columns]

    @classmethod
    def of(cls, transcript_id: str, result: MetricResult) -> ResultRows:
        """The result without its control, which is stored by itself."""
        bare = without_control(result)
        values = _result_values(bare)
        current = score_row(transcript_id, None, bare), doubt_rows(transcript_id, bare)
        ledger = [ledger_values(row) for row in bare.ledger]
        digest = hashlib.blake2b(packed([values, ledger]), digest_size=16).hexdigest()
        return cls(transcript_id, values, ledger, digest, *current)

    @staticmethod
    def is_stored(result: MetricResult) -> bool:
        """Whether the store keeps such a result: not engagement, which follows from the ratings."""
        return result.name != ENGAGEMENT.name

    @property
    def key(self) -> tuple[str, str]:
        """Transcript and metric: of the results with the same ones the latest is current."""
        return self.transcript_id, self.values["metric"]

    def own_row(self, result_id: int) -> Columns:
        """The row of ``metric_results`` under that number."""
        return {**self.values, "result_id": result_id, "transcript_id": self.transcript_id, "digest": self.digest}


@dataclass(frozen=True, slots=True)
class ScoredGame:
    """A scored game as rows of plain values: a tenth of the work of sending its results between processes.

    Attributes:
        transcript_id: Which game.
        results: The results that are stored: all but engagement, which follows from the ratings.
        tried: The metrics that were computed or failed.
        failures: Those that failed.
        transcript: The rows of the transcript; ``None`` where that is stored already.
        verdict: The verdict on the results, while nobody has rated the game; ``None`` where nobody asks.
    """

    transcript_id: str
    results: tuple[ResultRows, ...]
    tried: tuple[str, ...]
    failures: tuple[ScoreFailure, ...]
    transcript: TranscriptRows | None = None
    verdict: Verdict | None = None

    @classmethod
    def of(cls, transcript_id: str, metrics: Mapping[str, MetricResult], failures: Sequence[ScoreFailure]) -> Self:
        """The results by metric and the failures, as rows."""
        rows = [ResultRows.of(transcript_id, one) for one in metrics.values() if ResultRows.is_stored(one)]
        return cls(transcript_id, tuple(rows), (*metrics, *(failure.metric for failure in failures)), tuple(failures))


ControlRow = tuple[str, str, str | None, str | None]
"""Metric, its version, the control and the link strengths of messages, both as JSON."""


def control_rows(results: Mapping[str, MetricResult], links: Sequence[Link]) -> list[ControlRow]:
    """The controls that results carry, as rows of plain values."""
    return [
        (
            name,
            result.definition.version,
            to_json(dict(result.control)),
            to_json([link.as_dict() for link in links]) if name == COHERENCE.name else None,
        )
        for name, result in results.items()
        if result.control is not None
    ]


def ledger_values(row: LedgerRow) -> tuple[Any, ...]:
    """A ledger row in the order of ``LEDGER_COLUMNS``."""
    *plain, evidence, refers_to, details = _LEDGER_VALUES(row)
    return (*plain, to_json([one.as_dict() for one in evidence]), refers_to, to_json(dict(details)))


def ledger_row(values: Sequence[Any]) -> LedgerRow:
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


def _result_values(result: MetricResult) -> Columns:
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
    definition = DEFINITIONS[row["metric"]]
    # The one that computed it may be an earlier version.
    definition = definition if definition.version == row["version"] else replace(definition, version=row["version"])
    return MetricResult(
        definition=definition,
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


def score_row(transcript_id: str, result_id: int | None, result: MetricResult) -> Columns:
    """The row of ``current_scores`` for a result as it stands; ``result_id`` is the computed result below it."""
    values = _result_values(result)
    return {
        "transcript_id": transcript_id,
        "metric": result.name,
        "result_id": result_id,
        **{name: values[name] for name in _SCORE_COLUMNS},
        "considered": float(found) if (found := result.details.get("considered")) is not None else None,
        "control": values["control"],
    }


def decided_rows(transcript_id: str, result: MetricResult) -> list[Columns]:
    """The rows of ``decided_rows`` for a result as it stands."""
    return [
        {
            "transcript_id": transcript_id,
            "metric": result.name,
            "position": position,
            "row_id": row.id,
            **picked(row, "message_id", "player", "numerator", "denominator", "reason"),
        }
        for position, row in enumerate(result.ledger)
        if row.method.is_decision
    ]


def doubt_rows(transcript_id: str, result: MetricResult) -> list[Columns]:
    """The rows of ``rows_in_doubt`` for a result as it stands."""
    return [
        {
            "transcript_id": transcript_id,
            "metric": item.metric,
            "row_id": item.row_id,
            "kind": item.kind.value,
            **picked(item, "before", "if_counts", "if_not", "if_excluded"),
        }
        for item in review_items({result.name: result})
    ]
