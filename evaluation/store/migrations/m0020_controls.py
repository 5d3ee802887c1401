"""Controls of metrics beside their results, and reports on what metrics notice of planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CONTROLS = """
CREATE SEQUENCE control_numbers;
CREATE TABLE controls (
    control_id bigint NOT NULL DEFAULT nextval('control_numbers'),
    transcript_id text NOT NULL,
    metric text NOT NULL,
    version text NOT NULL,
    control JSON NOT NULL,
    links JSON,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE validity_numbers;
CREATE TABLE validity_reports (
    report_id bigint NOT NULL DEFAULT nextval('validity_numbers'),
    report JSON NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_controls(connection: DuckDBPyConnection) -> None:
    """Adds ``controls`` (the latest of a transcript, metric and version holds) and ``validity_reports``."""
    connection.execute(_CONTROLS)
