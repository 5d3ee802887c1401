"""The activity of experiments, and the experiment that a checked message belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
CREATE TABLE experiment_activity (
    experiment_id text NOT NULL,
    side text NOT NULL CHECK (side IN ('treatment', 'control')),
    environment integer NOT NULL,
    activity JSON NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE correction_logs ADD COLUMN experiment_id uuid;
"""


def create_activity_table(connection: DuckDBPyConnection) -> None:
    """Adds ``experiment_activity``, to which rows are only ever added.

    ``experiment_id`` of ``correction_logs`` is null outside experiments and for what was logged before.
    """
    connection.execute(_TABLES)
