"""The gate's columns beyond the specification: the text of every attempt and its feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def create_correction_columns(connection: DuckDBPyConnection) -> None:
    """``group_id`` joins the attempts of one message; exactly one of them is committed, or none at all."""
    connection.execute("ALTER TABLE correction_logs ADD COLUMN attempt_text text")
    connection.execute("ALTER TABLE correction_logs ADD COLUMN is_committed boolean")
    connection.execute("ALTER TABLE correction_logs ADD COLUMN feedback text")
