"""The process that evaluates an agent, so that a killed run is not shown as running for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def create_run_owners(connection: DuckDBPyConnection) -> None:
    """Adds ``owner`` and ``heartbeat`` to ``evaluation_runs``; one that older versions left has none, and has ended."""
    connection.execute("ALTER TABLE evaluation_runs ADD COLUMN owner text")
    connection.execute("ALTER TABLE evaluation_runs ADD COLUMN heartbeat timestamptz")
