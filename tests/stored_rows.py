"""Tables of the store that tests look at as they are."""

import pandas as pd

from evaluation.store import Store

_CORRECTIONS = """
SELECT * REPLACE (timezone('UTC', created_at) AS created_at, group_id::text AS group_id,
    dimension_scores::text AS dimension_scores, token_usage::text AS token_usage)
FROM correction_logs WHERE $agent IS NULL OR agent_id = $agent
ORDER BY correction_logs.rowid
"""


def correction_log(store: Store, agent: str | None = None) -> pd.DataFrame:
    """The attempts of the gate, of all agents or of one, in their order."""
    with store.unit() as cursor:
        return cursor.execute(_CORRECTIONS, {"agent": agent and store.corrections.agent(agent).id}).df()


def llm_calls(store: Store, run_id: str | None = None) -> pd.DataFrame:
    """The calls of models, of all runs or of one, in their order."""
    query = """SELECT * REPLACE (timezone('UTC', created_at) AS created_at) FROM llm_calls
        WHERE $run IS NULL OR run_id::text = $run ORDER BY llm_calls.rowid"""
    with store.unit() as cursor:
        return cursor.execute(query, {"run": run_id}).df()


def stored_threshold(store: Store, transcript_id: str, metric: str) -> float:
    """The threshold that the latest result of a metric was computed with."""
    query = "SELECT threshold FROM current_results WHERE transcript_id = ? AND metric = ?"
    with store.unit() as cursor:
        return float(cursor.execute(query, [transcript_id, metric]).fetchall()[0][0])
