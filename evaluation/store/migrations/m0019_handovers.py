"""The iteration whose games a rater was asked to rate first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_HANDOVERS = """
CREATE SEQUENCE handover_numbers;
CREATE TABLE rating_handovers (
    handover_id bigint NOT NULL DEFAULT nextval('handover_numbers'),
    rater text NOT NULL,
    iteration text NOT NULL,
    reference text,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_handovers(connection: DuckDBPyConnection) -> None:
    """Adds ``rating_handovers``; the latest of a rater holds. It never leaves the server."""
    connection.execute(_HANDOVERS)
