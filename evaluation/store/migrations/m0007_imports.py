"""The outcome of every file of an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_REPORTS = """
CREATE SEQUENCE import_numbers;
CREATE TABLE import_reports (
    report_id text PRIMARY KEY,
    position bigint NOT NULL,
    document JSON NOT NULL
);
"""


def create_import_tables(connection: DuckDBPyConnection) -> None:
    """One row a report; the report itself is a document that is only ever read whole."""
    connection.execute(_REPORTS)
