"""Deleted games and iterations that can be restored, and earlier descriptions of iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# ``iteration_number`` is ``iterations.position``, which no renaming changes.
_DELETIONS = """
CREATE SEQUENCE deletion_numbers;
CREATE TABLE deletions (
    deletion_id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('games', 'iteration')),
    label text NOT NULL,
    games integer NOT NULL,
    iteration_number bigint,
    who text NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE deletion_ends (
    deletion_id bigint PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('undone', 'purged')),
    who text NOT NULL,
    ended_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE deleted_games (
    deletion_id bigint NOT NULL,
    game text NOT NULL,
    iteration_number bigint
);
CREATE TABLE deleted_memberships (
    iteration_number bigint NOT NULL,
    game text NOT NULL,
    position bigint NOT NULL
);
CREATE SCHEMA trash;
CREATE TABLE trash.iterations AS FROM main.iterations LIMIT 0;
CREATE TABLE trash.iteration_events AS SELECT *, 0::bigint AS iteration_number FROM main.iteration_events LIMIT 0;
"""

_HISTORY = """
CREATE SEQUENCE iteration_change_numbers;
CREATE TABLE iteration_changes (
    change_id bigint NOT NULL DEFAULT nextval('iteration_change_numbers'),
    iteration_number bigint NOT NULL,
    name text NOT NULL,
    parent text,
    prompt_text text NOT NULL,
    change text NOT NULL,
    target_metric text,
    who text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_trash_tables(connection: DuckDBPyConnection) -> None:
    """Rows of deleted transcripts stand in the schema ``trash``, in tables like their own that are made when needed."""
    connection.execute(_DELETIONS)
    connection.execute(_HISTORY)
