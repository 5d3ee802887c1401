"""Columns of agent evaluations beyond the specification, and the speakers of each agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# ``scores`` sums up each dimension, also one without a score; ``judge`` and ``model`` are those that answered most.
_RUNS = ("mode text", "judge text", "model text", "seed integer", "scores JSON", "error text")

# One row per proposition and message (or trajectory, where there is no message). ``score`` has inverted claims turned
# round, ``raw_score`` is what the judge said; ``mark`` tells a 9 that says nothing about the agent.
_SCORES = (
    "position integer",
    "claim text",
    "weight real",
    "is_inverted boolean",
    "raw_score integer",
    "mark text",
    "transcript_id text",
    "message_id text",
    "citations JSON",
    "ideas JSON",
    "confidence real",
    "judge text",
    "model text",
    "judgement_key text",
)

_FAILURES = ("proposition_id text", "status text", "message_reference text")

# Without a foreign key: DuckDB refuses many updates of a row that others refer to.
_SPEAKERS = """
CREATE TABLE agent_speakers (
    speaker text PRIMARY KEY,
    agent_id text NOT NULL,
    who text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
)
"""


def create_evaluation_columns(connection: DuckDBPyConnection) -> None:
    """Columns of ours behind the specification's, in three tables, and the table of speakers."""
    for table, columns in (("evaluation_runs", _RUNS), ("evaluation_scores", _SCORES), ("score_failures", _FAILURES)):
        for column in columns:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    connection.execute(_SPEAKERS)
