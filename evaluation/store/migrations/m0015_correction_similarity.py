"""A flag for attempts that were too similar to an earlier message under the limit of that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def create_similarity_column(connection: DuckDBPyConnection) -> None:
    """Adds ``is_similar`` to ``correction_logs``; null for what was logged before."""
    connection.execute("ALTER TABLE correction_logs ADD COLUMN is_similar boolean")
