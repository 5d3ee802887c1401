"""The remaining work of a job, so that the job can continue after its server has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SPOOL = """
CREATE TABLE spool (
    job_id text NOT NULL,
    position integer NOT NULL,
    source_name text NOT NULL,
    iteration text,
    document blob,
    outcome text CHECK (outcome IN ('new', 'known', 'incomplete'))
);
ALTER TABLE jobs ADD COLUMN resumed_at timestamptz;
ALTER TABLE jobs ADD COLUMN resumed_done integer;
"""


def create_import_queue_tables(connection: DuckDBPyConnection) -> None:
    """One row a game of a job: its document until it is scored, its outcome afterwards."""
    connection.execute(_SPOOL)
