"""Increasing numbers that order events, so that a clock set back does not hide later ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_COLUMNS = """
CREATE SEQUENCE run_numbers;
ALTER TABLE evaluation_runs ADD COLUMN position bigint DEFAULT nextval('run_numbers');
CREATE SEQUENCE draft_numbers;
ALTER TABLE drafts ADD COLUMN touched bigint DEFAULT nextval('draft_numbers');
ALTER TABLE ratings ADD COLUMN is_past boolean DEFAULT false;
"""

_CURRENT = """
CREATE OR REPLACE VIEW current_ratings AS
    SELECT * FROM ratings
    QUALIFY row_number() OVER (PARTITION BY transcript_id, rater ORDER BY coalesce(is_past, false), rating_id DESC) = 1;
CREATE OR REPLACE VIEW engagement AS
    SELECT transcript_id, avg(score) AS score, count(*) AS raters FROM current_ratings GROUP BY transcript_id;
"""

# A form of the desk is a revision whatever the clock said. Others may come from a sheet, which names a time for each.
_PAST = """
UPDATE {schema}.ratings SET is_past = true
WHERE token NOT IN (SELECT token FROM {schema}.assignments) AND EXISTS (
    SELECT 1 FROM {schema}.ratings e
    WHERE e.transcript_id = ratings.transcript_id AND e.rater = ratings.rater
        AND e.rating_id < ratings.rating_id AND e.created_at > ratings.created_at)
"""

_TRASHED = (
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'trash' AND table_name IN ('ratings', 'assignments')"
)


def order_by_numbers(connection: DuckDBPyConnection) -> None:
    """Numbers runs and drafts, and marks ratings given before the one that counted when they were stored."""
    connection.execute(_COLUMNS)
    connection.execute(_PAST.format(schema="main"))
    if len(connection.execute(_TRASHED).fetchall()) == 2:
        connection.execute("ALTER TABLE trash.ratings ADD COLUMN is_past boolean")
        connection.execute(_PAST.format(schema="trash"))
    connection.execute(_CURRENT)
