"""A sign-off can be withdrawn, and both stay on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# DuckDB cannot change a check, so the table is made again.
_WIDEN = """
ALTER TABLE iteration_events RENAME TO iteration_events_before;
CREATE TABLE iteration_events (
    event_id bigint NOT NULL DEFAULT nextval('iteration_event_numbers'),
    iteration text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('promoted', 'signed_off', 'withdrawn')),
    who text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO iteration_events BY NAME FROM iteration_events_before ORDER BY event_id;
DROP TABLE iteration_events_before;
"""


def allow_withdrawals(connection: DuckDBPyConnection) -> None:
    """Lets ``iteration_events`` hold the withdrawal of a sign-off, with who withdrew it and why."""
    connection.execute(_WIDEN)
