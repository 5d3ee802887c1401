"""Calls to models: purpose, cost and errors of each, and what they cost together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.judging.model_client.calls import CallRecord
from evaluation.store._bulk_rows import append_rows, fitting, microseconds, picked, to_utc
from evaluation.store._evaluations import as_they_stand
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


def spending_by_run(units: Units, *, limit: int = 500) -> pd.DataFrame:
    """The latest evaluation runs with what they cost, newest first.

    Returns:
        ``run_id``, ``agent``, ``mode``, ``judge``, ``model``, ``status``, ``created_at`` (UTC), ``seconds`` (how long
        it took), ``answers`` (scores of a model in it), ``kept`` (of these, those that were known before it began and
        cost nothing), ``calls``, ``input_tokens``, ``cached_tokens``, ``output_tokens``, ``cost_usd``.
    """
    return as_they_stand(units.table(_BY_RUN, {"limit": limit}, times=["created_at"]))


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

# An answer that is kept since before the run began was not paid for by it.
_BY_RUN = """
SELECT r.id::text AS run_id, a.display_name AS agent, r.mode, r.judge, r.model, r.status,
    timezone('UTC', r.created_at) AS created_at,
    date_diff('millisecond', r.created_at, r.completed_at) / 1000.0 AS seconds,
    coalesce(s.answers, 0)::bigint AS answers, coalesce(s.kept, 0)::bigint AS kept,
    (r.token_usage->>'calls')::double AS calls,
    (r.token_usage->>'input_tokens')::double AS input_tokens,
    (r.token_usage->>'cached_tokens')::double AS cached_tokens,
    (r.token_usage->>'output_tokens')::double AS output_tokens,
    (r.token_usage->>'cost_usd')::double AS cost_usd, r.owner, epoch_us(r.heartbeat) AS heartbeat
FROM evaluation_runs r JOIN agents a ON a.id = r.agent_id
LEFT JOIN (
    SELECT e.evaluation_run_id AS run, count(DISTINCT e.judgement_key) AS answers,
        count(DISTINCT e.judgement_key) FILTER (WHERE j.created_at < x.created_at) AS kept
    FROM evaluation_scores e
    JOIN evaluation_runs x ON x.id = e.evaluation_run_id
    JOIN judgements j ON j.key = e.judgement_key
    GROUP BY e.evaluation_run_id
) s ON s.run = r.id
ORDER BY r.position DESC LIMIT $limit
"""
