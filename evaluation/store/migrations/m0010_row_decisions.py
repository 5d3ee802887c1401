"""Judge decisions on ledger rows, append-only, with a view of the latest decision on each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
CREATE SEQUENCE row_decision_numbers;
CREATE TABLE row_decisions (
    decision_id bigint NOT NULL DEFAULT nextval('row_decision_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    row_id text NOT NULL,
    verdict text CHECK (verdict IN ('counts', 'does_not_count', 'excluded')),
    label text NOT NULL,
    reason text NOT NULL,
    confidence double,
    citations text[] NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    judgement_key text NOT NULL,
    withdrawn_by text,
    decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX row_decisions_by_transcript ON row_decisions (transcript_id);
CREATE VIEW current_row_decisions AS
    SELECT * FROM row_decisions
    QUALIFY row_number() OVER (PARTITION BY transcript_id, metric, row_id ORDER BY decision_id DESC) = 1;
"""


def create_decision_tables(connection: DuckDBPyConnection) -> None:
    """A withdrawn decision is followed by a row without a verdict, which names who withdrew it."""
    connection.execute(_TABLES)
