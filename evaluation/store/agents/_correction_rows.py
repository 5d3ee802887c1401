"""Rows of ``correction_logs`` and the messages that they stand for: one row per attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from evaluation.corrections.attempts import (
    Attempt,
    DimensionCheck,
    GateOutcome,
    GateResult,
    LoggedMessage,
    MessageScore,
)
from evaluation.escaping import without_controls
from evaluation.store.engine.bulk_rows import from_json, to_json
from evaluation.store.engine.timestamps import from_microseconds

COLUMNS = """group_id::text AS group_id, agent_id, attempt_number, attempt_text, is_committed, outcome, original_text,
    dimension_scores::text AS dimension_scores, similarity_score, is_similar, feedback,
    epoch_us(created_at) AS created_us, coalesce(run_id, experiment_id)::text AS run"""
"""What ``messages_from`` needs of a row, in its order."""

_NAMES = (
    "group_id",
    "agent_id",
    "attempt_number",
    "attempt_text",
    "is_committed",
    "outcome",
    "original_text",
    "dimension_scores",
    "similarity_score",
    "is_similar",
    "feedback",
    "created_us",
    "run",
)


def row_of(
    result: GateResult, agent_id: str, attempt: Attempt, group: str, run_id: str | None, experiment_id: str | None
) -> dict[str, Any]:
    """The row of one attempt of a message that was checked, of the agent with that id."""
    committed = result.committed
    is_corrected = committed is not None and committed.number > 0
    return {
        "agent_id": agent_id,
        "run_id": run_id,
        "experiment_id": experiment_id,
        "original_text": without_controls(result.original),
        "corrected_text": without_controls(result.text) if is_corrected else None,
        "dimension_scores": _scores(attempt),
        "similarity_score": attempt.similarity,
        "total_score": attempt.total,
        "attempt_number": attempt.number,
        "outcome": str(result.outcome),
        "token_usage": _usage(attempt),
        "group_id": group,
        "attempt_text": without_controls(attempt.text),
        "is_committed": committed is not None and attempt.number == committed.number,
        "feedback": without_controls(attempt.feedback),
        "is_similar": attempt.is_similar,
    }


def messages_from(rows: Iterable[tuple[Any, ...]]) -> list[LoggedMessage]:
    """The messages of rows that stand together by group, attempts in order."""
    named = (dict(zip(_NAMES, row, strict=True)) for row in rows)
    return [_message(list(group)) for _, group in groupby(named, key=lambda row: row["group_id"])]


def _message(rows: list[dict[str, Any]]) -> LoggedMessage:
    first = rows[0]
    attempts = tuple(map(_attempt, rows))
    sent = next((attempt for attempt, row in zip(attempts, rows, strict=True) if row["is_committed"]), None)
    result = GateResult(first["agent_id"], sent, GateOutcome(first["outcome"]), attempts)
    return LoggedMessage(first["group_id"], from_microseconds(first["created_us"]), result, first["run"] or "")


def _attempt(row: Mapping[str, Any]) -> Attempt:
    scores = from_json(row["dimension_scores"]) or {}
    text = row["original_text"] if row["attempt_text"] is None else row["attempt_text"]
    return Attempt(
        number=row["attempt_number"],
        text=text,
        checks=tuple(_check(name, found) for name, found in scores.items()),
        similarity=_plain(row["similarity_score"]),
        is_similar=bool(row["is_similar"]),
        feedback=row["feedback"] or "",
    )


def _check(dimension: str, found: Mapping[str, Any]) -> DimensionCheck:
    # Older rows may hold no more than score and reasoning, as the specification has it.
    said = MessageScore(
        found.get("score"),
        found.get("reasoning", ""),
        tuple(found.get("recommendations", ())),
        is_breaker_open=bool(found.get("breaker_open")),
        calls=found.get("calls"),
        cost_usd=found.get("cost_usd"),
    )
    return DimensionCheck(dimension, found.get("threshold", 0.0), said)


def _plain(value: float | None) -> float | None:
    # A column of type real holds seven digits: 0.6 comes back as 0.6000000238.
    return None if value is None else float(f"{value:.7g}")


def _scores(attempt: Attempt) -> str | None:
    return to_json(
        {
            check.dimension: {
                "score": check.found.score,
                "threshold": check.threshold,
                "reasoning": without_controls(check.found.reasoning),
                "recommendations": [without_controls(line) for line in check.found.recommendations],
                "calls": check.found.calls,
                "cost_usd": check.found.cost_usd,
                **({"breaker_open": True} if check.found.is_breaker_open else {}),
            }
            for check in attempt.checks
        }
    )


def _usage(attempt: Attempt) -> str | None:
    found = [check.found for check in attempt.checks]
    sums = {
        "input_tokens": sum(one.input_tokens for one in found),
        "output_tokens": sum(one.output_tokens for one in found),
    }
    return to_json(sums) if any(sums.values()) else None
