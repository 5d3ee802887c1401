"""The files of watched folders, with what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLE = """
CREATE TABLE watched_files (
    folder text NOT NULL,
    path text NOT NULL,
    bytes bigint NOT NULL,
    modified_ns bigint NOT NULL,
    is_refused boolean NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT now()
)
"""


def create_watched_files(connection: DuckDBPyConnection) -> None:
    """Adds ``watched_files``: one row per file and state of it that was taken from a watched folder."""
    connection.execute(_TABLE)
