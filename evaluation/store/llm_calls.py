"""Calls to models: purpose, cost and errors of each, and what they cost together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.judging.model_client.calls import CallRecord
from evaluation.store._bulk_rows import append_rows, fitting, microseconds, picked, to_utc
from evaluation.store.transactions import Units

if TYPE_CHECKING:
    import pandas as pd


_BITS = 64


class LLMCalls:
    """Adds calls, and adds them up."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, records: Sequence[CallRecord]) -> None:
        """Stores calls as they were; nothing is ever changed."""
        with self._units.unit(write=True, join=True) as cursor:
            append_rows(cursor, "llm_calls", [_row(record) for record in records])

    def have(self, record: CallRecord) -> bool:
        """Whether a call is stored, told by model, time, attempt and first judgement."""
        return _identity(record) in self._units.rows(_SINCE, [record.started_at])


def _row(record: CallRecord) -> dict[str, Any]:
    tokens = picked(record, "input_tokens", "cached_tokens", "output_tokens")
    return {
        **picked(record, "run_id", "purpose", "model", "judgement_key", "cost_usd", "seconds"),
        **picked(record, "attempt", "outcome", "judgements"),
        **{name: fitting(count, _BITS) for name, count in tokens.items()},
        "error": record.error or None,
        "created_at": to_utc(record.started_at),
    }


def _identity(record: CallRecord) -> tuple[object, ...]:
    return record.model, microseconds(record.started_at), record.attempt, record.judgement_key


_SINCE = """
SELECT model, epoch_us(created_at), attempt, judgement_key FROM llm_calls WHERE created_at >= ?
"""


def spending_by_model(units: Units) -> pd.DataFrame:
    """All calls by model and purpose, the dearest first.

    Returns:
        ``model``, ``purpose``, ``calls`` (failed ones included), ``failed``, ``judgements`` (asked for in them),
        ``input_tokens``, ``cached_tokens`` (of these, those that the provider had in its cache), ``output_tokens``,
        ``cost_usd`` (of the calls with a known price; empty when there is none), ``unpriced`` (answered calls without
        one), ``median_seconds`` and ``slow_seconds`` (95th percentile), of answered calls.
    """
    return units.table(_BY_MODEL, {})


_BY_MODEL = """
SELECT model, purpose, count(*) AS calls,
    count(*) FILTER (WHERE outcome <> 'answered') AS failed,
    coalesce(sum(judgements), 0)::bigint AS judgements,
    coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
    coalesce(sum(cached_tokens), 0)::bigint AS cached_tokens,
    coalesce(sum(output_tokens), 0)::bigint AS output_tokens,
    sum(cost_usd) AS cost_usd,
    count(*) FILTER (WHERE cost_usd IS NULL AND outcome = 'answered') AS unpriced,
    median(seconds) FILTER (WHERE outcome = 'answered') AS median_seconds,
    quantile_cont(seconds, 0.95) FILTER (WHERE outcome = 'answered') AS slow_seconds
FROM llm_calls GROUP BY model, purpose ORDER BY cost_usd DESC NULLS LAST, calls DESC, model, purpose
"""
