"""The four tables of the persona specification, and the ones that their foreign keys need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AGENTS = """
CREATE TABLE agents (
    id text PRIMARY KEY,
    display_name text NOT NULL,
    kind text NOT NULL DEFAULT 'agent' CHECK (kind IN ('agent', 'environment')),
    persona JSON,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE runs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    label text,
    metadata JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);
"""

# Ideas are counted, not marked, so only the dimensions that are marked from 0 to 9 have a highest score.
_EVALUATIONS = """
CREATE TABLE evaluation_runs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL REFERENCES agents (id),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    dimensions text[] NOT NULL,
    window_start timestamptz,
    window_end timestamptz,
    sample_size integer NOT NULL,
    overall_score real,
    is_baseline boolean NOT NULL DEFAULT false,
    token_usage JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz
);
CREATE INDEX evaluation_runs_by_agent ON evaluation_runs (agent_id, created_at);
CREATE TABLE evaluation_scores (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    evaluation_run_id uuid NOT NULL REFERENCES evaluation_runs (id),
    dimension text NOT NULL,
    proposition_id text NOT NULL,
    score real NOT NULL CHECK (score >= 0),
    reasoning text NOT NULL,
    context_snippet text,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (dimension NOT IN ('adherence', 'consistency', 'fluency', 'convergence', 'suitability') OR score <= 9)
);
CREATE INDEX evaluation_scores_by_run ON evaluation_scores (evaluation_run_id, dimension);
CREATE TABLE score_failures (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    evaluation_run_id uuid,
    transcript_id text,
    scorer text NOT NULL,
    subject text NOT NULL,
    reason text NOT NULL,
    traceback text,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

_CORRECTIONS = """
CREATE TABLE correction_logs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL REFERENCES agents (id),
    run_id uuid REFERENCES runs (id),
    original_text text NOT NULL,
    corrected_text text,
    dimension_scores JSON,
    similarity_score real,
    total_score real,
    attempt_number integer NOT NULL,
    outcome text NOT NULL CHECK (
        outcome IN ('passed', 'corrected', 'passed_after_retry', 'forced_through', 'timeout_pass_through')
    ),
    token_usage JSON,
    created_at timestamptz NOT NULL DEFAULT now(),
    group_id uuid
);
CREATE INDEX correction_logs_by_agent ON correction_logs (agent_id, created_at);
CREATE TABLE agent_evaluation_config (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    agent_id text NOT NULL UNIQUE REFERENCES agents (id),
    gate_adherence_enabled boolean NOT NULL DEFAULT false,
    gate_consistency_enabled boolean NOT NULL DEFAULT false,
    gate_fluency_enabled boolean NOT NULL DEFAULT false,
    gate_suitability_enabled boolean NOT NULL DEFAULT false,
    gate_adherence_threshold real NOT NULL DEFAULT 7.0,
    gate_consistency_threshold real NOT NULL DEFAULT 7.0,
    gate_fluency_threshold real NOT NULL DEFAULT 7.0,
    gate_suitability_threshold real NOT NULL DEFAULT 7.0,
    gate_similarity_enabled boolean NOT NULL DEFAULT false,
    max_action_similarity real NOT NULL DEFAULT 0.6,
    max_correction_attempts integer NOT NULL DEFAULT 2,
    continue_on_failure boolean NOT NULL DEFAULT true,
    minimum_required_qty_of_actions integer NOT NULL DEFAULT 0,
    anti_convergence_enabled boolean NOT NULL DEFAULT false,
    convergence_threshold real NOT NULL DEFAULT 0.6,
    variety_intervention_enabled boolean NOT NULL DEFAULT false,
    variety_message_threshold integer NOT NULL DEFAULT 7,
    repetition_suppression_enabled boolean NOT NULL DEFAULT false,
    repetition_threshold real NOT NULL DEFAULT 0.3,
    updated_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_persona_tables(connection: DuckDBPyConnection) -> None:
    """The specification's tables column for column; DuckDB has no cascades, so deletes cascade in code."""
    for statements in (_AGENTS, _EVALUATIONS, _CORRECTIONS):
        connection.execute(statements)
