"""The finished runs of A/B tests that were started from the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLE = """
CREATE TABLE ab_runs (
    experiment_id text NOT NULL,
    run JSON NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
)
"""


def create_ab_runs(connection: DuckDBPyConnection) -> None:
    """Adds ``ab_runs``: one row per finished run, with its key, as in the file that ``dramaturg ab`` keeps runs in."""
    connection.execute(_TABLE)
