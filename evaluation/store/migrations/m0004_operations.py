"""Judge cache, calls to models, experiments, baselines, settings and long-running jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MODELS = """
CREATE TABLE judgements (
    key text PRIMARY KEY,
    model text NOT NULL,
    prompt JSON NOT NULL,
    answer JSON NOT NULL,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE llm_calls (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    run_id uuid,
    purpose text NOT NULL,
    model text NOT NULL,
    judgement_key text,
    is_cached boolean NOT NULL DEFAULT false,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    seconds double,
    error text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE experiments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    scenario text NOT NULL,
    seed bigint,
    scale double,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    config JSON,
    results JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);
CREATE TABLE baselines (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL,
    dimension text NOT NULL,
    score real NOT NULL,
    sample_size integer,
    propositions JSON,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

_SERVICE = """
CREATE TABLE settings (
    key text PRIMARY KEY,
    value JSON NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE job_numbers;
CREATE TABLE jobs (
    job_id text PRIMARY KEY,
    position bigint NOT NULL DEFAULT nextval('job_numbers'),
    kind text NOT NULL,
    label text NOT NULL,
    total integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
    message text NOT NULL DEFAULT '',
    owner text NOT NULL,
    is_cancel_requested boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    heartbeat timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);
"""


def create_operation_tables(connection: DuckDBPyConnection) -> None:
    """Whether a running job's process has died is seen on reading; no row says so."""
    connection.execute(_MODELS)
    connection.execute(_SERVICE)
