"""Long texts of judgements, stored once each, and what a call to a model was about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_JUDGING = """
CREATE TABLE judge_texts (
    sha256 text PRIMARY KEY,
    text text NOT NULL
);
ALTER TABLE llm_calls ADD COLUMN attempt integer;
ALTER TABLE llm_calls ADD COLUMN outcome text;
ALTER TABLE llm_calls ADD COLUMN judgements integer;
"""


def create_judging_columns(connection: DuckDBPyConnection) -> None:
    """``outcome`` is "answered" or the kind of failure; ``judgements`` counts what was asked for in the call."""
    connection.execute(_JUDGING)
