"""Versions of propositions that people saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLE = """
CREATE SEQUENCE proposition_version_numbers;
CREATE TABLE proposition_versions (
    version_id bigint NOT NULL DEFAULT nextval('proposition_version_numbers'),
    dimension text NOT NULL,
    agent_id text NOT NULL,
    content text,
    who text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_proposition_versions(connection: DuckDBPyConnection) -> None:
    """Adds ``proposition_versions``, to which rows are only ever added.

    The latest row of a dimension and agent is in force. ``content`` is a whole proposition file as YAML; null says that
    the shipped propositions are in force again.
    """
    connection.execute(_TABLE)
