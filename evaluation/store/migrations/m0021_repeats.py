"""Number the repeats of a judge's answer to the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def create_repeat_column(connection: DuckDBPyConnection) -> None:
    """Adds ``repeat`` to ``evaluation_scores``; null for what was asked once, by older versions."""
    connection.execute("ALTER TABLE evaluation_scores ADD COLUMN repeat integer")
