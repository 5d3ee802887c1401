"""Checks of messages, and opinions, themes and quotes, that a judge gave about stored transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
CREATE SEQUENCE insight_numbers;
CREATE TABLE insight_checks (
    number bigint NOT NULL,
    place integer NOT NULL,
    transcript_id text NOT NULL,
    check_type text NOT NULL,
    status text NOT NULL,
    score double CHECK (score BETWEEN 0 AND 1),
    passed boolean,
    threshold double NOT NULL,
    agent text,
    message_id text,
    excerpt text NOT NULL,
    explanation text NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE insight_findings (
    number bigint NOT NULL,
    transcript_id text NOT NULL,
    kind text NOT NULL,
    question text NOT NULL,
    result JSON NOT NULL,
    judge text NOT NULL,
    model text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_insight_answers(connection: DuckDBPyConnection) -> None:
    """Adds ``insight_checks`` and ``insight_findings``; the rows with the highest number of a transcript hold."""
    connection.execute(_TABLES)
