"""Texts that models wrote in simulations, and the conversations and scores of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# ``scope`` is the experiment's id; the prompts are not kept, the transcript shows what was said.
_EXPERIMENTS = """
CREATE TABLE generations (
    key text PRIMARY KEY,
    scope text NOT NULL,
    model text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE experiment_sessions (
    experiment_id text NOT NULL,
    side text NOT NULL CHECK (side IN ('treatment', 'control')),
    environment integer NOT NULL,
    transcript_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (experiment_id, side, environment)
);
CREATE TABLE experiment_scores (
    experiment_id text NOT NULL,
    side text NOT NULL CHECK (side IN ('treatment', 'control')),
    environment integer NOT NULL,
    agent text NOT NULL,
    dimension text NOT NULL,
    score double,
    items integer NOT NULL,
    reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_experiment_tables(connection: DuckDBPyConnection) -> None:
    """Rows are only ever added; an agent's score is empty where nothing could be scored, with the reason."""
    connection.execute(_EXPERIMENTS)
