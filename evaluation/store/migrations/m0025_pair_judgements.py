"""Blind judgements of two games against each other, and their withdrawals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
CREATE SEQUENCE pair_judgement_numbers;
CREATE TABLE pair_judgements (
    number bigint NOT NULL DEFAULT nextval('pair_judgement_numbers'),
    judgement_id text NOT NULL,
    rater text NOT NULL,
    choice text NOT NULL CHECK (choice IN ('left', 'right', 'no difference')),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE judged_games (
    judgement_id text NOT NULL,
    transcript_id text NOT NULL,
    side text NOT NULL CHECK (side IN ('left', 'right'))
);
CREATE TABLE pair_judgement_withdrawals (
    judgement_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def create_pair_judgements(connection: DuckDBPyConnection) -> None:
    """Adds ``pair_judgements``, ``judged_games`` and ``pair_judgement_withdrawals``: rows are only ever added.

    ``judged_games`` has a row for each of the two games, which goes to the trash with its game; a judgement counts
    while both of its games are stored.
    """
    connection.execute(_TABLES)
