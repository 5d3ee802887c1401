"""Metric results with their ledgers, ratings and overrides: all append-only, their current state a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# No index on the ledger: millions of rows, written in bulk in the order of result_id, which lets scans skip the rest.
_RESULTS = """
CREATE SEQUENCE result_numbers;
CREATE TABLE metric_results (
    result_id bigint NOT NULL,
    transcript_id text NOT NULL,
    metric text NOT NULL,
    version text NOT NULL,
    method text NOT NULL CHECK (method IN ('rule', 'judge', 'human')),
    status text NOT NULL CHECK (status IN ('passed', 'failed', 'not_applicable', 'pending')),
    score double,
    numerator double NOT NULL,
    denominator double NOT NULL,
    threshold double NOT NULL,
    reason text NOT NULL,
    notes text[] NOT NULL,
    details JSON,
    control JSON,
    digest text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX metric_results_by_transcript ON metric_results (transcript_id);
CREATE TABLE ledger (
    result_id bigint NOT NULL,
    position integer NOT NULL,
    row_id text NOT NULL,
    kind text NOT NULL,
    verdict text NOT NULL,
    message_id text,
    player text,
    numerator double NOT NULL,
    denominator double NOT NULL,
    method text NOT NULL,
    reason text NOT NULL,
    evidence JSON,
    refers_to text,
    details JSON
);
"""

_PEOPLE = """
CREATE SEQUENCE rating_numbers;
CREATE TABLE ratings (
    token text PRIMARY KEY,
    rating_id bigint NOT NULL DEFAULT nextval('rating_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    score integer NOT NULL CHECK (score BETWEEN 1 AND 5),
    answers boolean[] NOT NULL,
    comment text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE TABLE assignments (
    token text PRIMARY KEY,
    rater text NOT NULL,
    transcript_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE drafts (
    token text PRIMARY KEY,
    revision integer NOT NULL,
    body JSON NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE override_numbers;
CREATE TABLE overrides (
    override_id bigint NOT NULL DEFAULT nextval('override_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    row_id text NOT NULL,
    verdict text CHECK (verdict IN ('counts', 'does_not_count', 'excluded')),
    author text NOT NULL,
    reason text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

_CURRENT = """
CREATE VIEW current_results AS
    SELECT * FROM metric_results WHERE method = 'rule'
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric ORDER BY result_id DESC) = 1;
CREATE VIEW current_ratings AS
    SELECT * FROM ratings
    QUALIFY row_number() OVER (PARTITION BY transcript_id, rater ORDER BY created_at DESC, rating_id DESC) = 1;
CREATE VIEW engagement AS
    SELECT transcript_id, avg(score) AS score, count(*) AS raters FROM current_ratings GROUP BY transcript_id;
"""


def create_result_tables(connection: DuckDBPyConnection) -> None:
    """An undone override is a row that names it in ``undoes``; the latest one not undone stands."""
    for statements in (_RESULTS, _PEOPLE, _CURRENT):
        connection.execute(statements)
