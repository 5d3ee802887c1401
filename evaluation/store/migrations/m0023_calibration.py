"""People's blind marks, the activity of experiments, and the experiment that a checked message belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
CREATE SEQUENCE calibration_mark_numbers;
CREATE TABLE calibration_marks (
    mark_id bigint NOT NULL DEFAULT nextval('calibration_mark_numbers'),
    judgement_key text NOT NULL,
    model text NOT NULL,
    dimension text NOT NULL,
    proposition_id text NOT NULL,
    claim text NOT NULL,
    judge_mark integer NOT NULL CHECK (judge_mark BETWEEN 0 AND 9),
    rater text NOT NULL,
    mark integer CHECK (mark BETWEEN 0 AND 9),
    evidence text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE experiment_activity (
    experiment_id text NOT NULL,
    side text NOT NULL CHECK (side IN ('treatment', 'control')),
    environment integer NOT NULL,
    activity JSON NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE correction_logs ADD COLUMN experiment_id uuid;
"""


def create_calibration_tables(connection: DuckDBPyConnection) -> None:
    """Adds ``calibration_marks`` and ``experiment_activity``, to which rows are only ever added.

    The latest mark of a rater for a judgement holds; a null mark says that they could not tell. ``experiment_id`` of
    ``correction_logs`` is null outside experiments and for what was logged before.
    """
    connection.execute(_TABLES)
