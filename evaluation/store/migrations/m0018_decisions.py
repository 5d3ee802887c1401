"""A person's decision to keep or revert a change is recorded, and can be taken back."""

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
    kind text NOT NULL CHECK (
        kind IN ('promoted', 'signed_off', 'withdrawn', 'kept', 'reverted', 'decision_withdrawn')
    ),
    who text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    reference text,
    rule text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO iteration_events BY NAME FROM iteration_events_before ORDER BY event_id;
DROP TABLE iteration_events_before;
ALTER TABLE trash.iteration_events ADD COLUMN reason text DEFAULT '';
ALTER TABLE trash.iteration_events ADD COLUMN reference text;
ALTER TABLE trash.iteration_events ADD COLUMN rule text DEFAULT '';
"""


def allow_decisions(connection: DuckDBPyConnection) -> None:
    """Lets ``iteration_events`` hold decisions: kind, who, reason, note, the reference and the rule's answer then."""
    connection.execute(_WIDEN)
