"""Discards, practice ratings on reference games, and answers to the style check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A discard is taken back by a row that names it in ``undoes``; ``who`` is the person who acted.
_DISCARDS = """
CREATE SEQUENCE discard_numbers;
CREATE TABLE discards (
    discard_id bigint NOT NULL DEFAULT nextval('discard_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    reason text NOT NULL,
    note text NOT NULL DEFAULT '',
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE VIEW current_discards AS
    SELECT * FROM discards d
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM discards u WHERE u.undoes = d.discard_id);
"""

# No game of the store: practice games come with Dramaturg, and what is said about them never meets real ratings.
_PRACTICE = """
CREATE SEQUENCE practice_numbers;
CREATE TABLE practice_ratings (
    token text PRIMARY KEY,
    practice_id bigint NOT NULL DEFAULT nextval('practice_numbers'),
    game text NOT NULL,
    version integer NOT NULL,
    rater text NOT NULL,
    score integer NOT NULL CHECK (score BETWEEN 1 AND 5),
    answers boolean[] NOT NULL,
    comment text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

# ``chosen`` is empty where the rater could not tell. One answer per rater and player: after it the truth is known.
_STYLE = """
CREATE TABLE style_answers (
    transcript_id text NOT NULL,
    rater text NOT NULL,
    player text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('personality', 'voice')),
    candidates text[] NOT NULL,
    message_ids text[] NOT NULL,
    truth text NOT NULL,
    chosen text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (transcript_id, rater, player)
);
"""


def create_rating_desk_tables(connection: DuckDBPyConnection) -> None:
    """Three tables and the view of the discards that stand."""
    for statements in (_DISCARDS, _PRACTICE, _STYLE):
        connection.execute(statements)
