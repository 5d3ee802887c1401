"""Every call to a model: purpose, cost and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.judging.model_client.calls import CallRecord, Usage
from evaluation.store.engine.bulk_rows import append_rows, fitting, frame
from evaluation.store.engine.timestamps import microseconds, to_utc
from evaluation.store.engine.transactions import Units

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
        with self._units.unit() as cursor:
            return _identity(record) in cursor.execute(_SINCE, [record.started_at]).fetchall()

    def usage(self, run_id: str | None = None) -> Usage:
        """Usage of all calls, or of those of one run. Calls without a known price cost nothing here."""
        with self._units.unit() as cursor:
            found = cursor.execute(_USAGE, {"run_id": run_id}).fetchone()
        assert found is not None
        read, cached, written, cost, calls = found
        return Usage(int(read), int(cached), int(written), float(cost), int(calls))

    def frame(self, run_id: str | None = None, *, limit: int = 1_000) -> pd.DataFrame:
        """The latest calls, newest first, those of one run or all.

        Returns:
            One row per call: ``started_at`` (UTC), ``purpose``, ``model``, ``attempt``, ``outcome``, ``error``,
            ``judgements``, ``input_tokens``, ``cached_tokens``, ``output_tokens``, ``cost_usd`` (empty when the price
            is not known), ``seconds``.
        """
        with self._units.unit() as cursor:
            return frame(cursor, _LATEST, {"run_id": run_id, "limit": limit}, times=["started_at"])


def _row(record: CallRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "purpose": record.purpose,
        "model": record.model,
        "judgement_key": record.judgement_key,
        "input_tokens": fitting(record.input_tokens, _BITS),
        "cached_tokens": fitting(record.cached_tokens, _BITS),
        "output_tokens": fitting(record.output_tokens, _BITS),
        "cost_usd": record.cost_usd,
        "seconds": record.seconds,
        "error": record.error or None,
        "created_at": to_utc(record.started_at),
        "attempt": record.attempt,
        "outcome": record.outcome,
        "judgements": record.judgements,
    }


def _identity(record: CallRecord) -> tuple[object, ...]:
    return record.model, microseconds(record.started_at), record.attempt, record.judgement_key


_SINCE = """
SELECT model, epoch_us(created_at), attempt, judgement_key FROM llm_calls WHERE created_at >= ?
"""

_USAGE = """
SELECT coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cost_usd), 0), count(*)
FROM llm_calls WHERE $run_id IS NULL OR run_id = CAST($run_id AS uuid)
"""

_LATEST = """
SELECT timezone('UTC', created_at) AS started_at, purpose, model, attempt, outcome, coalesce(error, '') AS error,
    judgements, input_tokens, cached_tokens, output_tokens, cost_usd, seconds
FROM llm_calls WHERE $run_id IS NULL OR run_id = CAST($run_id AS uuid)
ORDER BY rowid DESC LIMIT $limit
"""
