"""Assignments of games to raters, ratings that are asked for again, gold ratings, and decisions on engagement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Rows are only ever added; a row is withdrawn by one that names it in ``undoes``. ``who`` is the person who acted.
# The table ``assignments`` of an earlier step holds the tokens of forms, whoever asked for them.
_TABLES = """
CREATE SEQUENCE rating_assignment_numbers;
CREATE TABLE rating_assignments (
    assignment_id bigint NOT NULL DEFAULT nextval('rating_assignment_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE send_back_numbers;
CREATE TABLE rating_send_backs (
    send_back_id bigint NOT NULL DEFAULT nextval('send_back_numbers'),
    transcript_id text NOT NULL,
    rater text NOT NULL,
    reason text NOT NULL,
    who text NOT NULL,
    last_rating bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE gold_numbers;
CREATE TABLE gold_ratings (
    gold_id bigint NOT NULL DEFAULT nextval('gold_numbers'),
    transcript_id text NOT NULL,
    score integer CHECK (score BETWEEN 1 AND 5),
    answers boolean[],
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE engagement_decision_numbers;
CREATE TABLE engagement_decisions (
    decision_id bigint NOT NULL DEFAULT nextval('engagement_decision_numbers'),
    transcript_id text NOT NULL,
    score integer CHECK (score BETWEEN 1 AND 5),
    reason text NOT NULL,
    who text NOT NULL,
    undoes bigint,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

_CURRENT = """
CREATE VIEW current_rating_assignments AS
    SELECT * FROM rating_assignments a
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM rating_assignments u WHERE u.undoes = a.assignment_id);
CREATE VIEW open_send_backs AS
    SELECT * FROM rating_send_backs s
    WHERE NOT EXISTS (
        SELECT 1 FROM ratings r
        WHERE r.transcript_id = s.transcript_id AND r.rater = s.rater AND r.rating_id > s.last_rating
            AND NOT coalesce(r.is_past, false));
CREATE VIEW current_gold AS
    SELECT * FROM gold_ratings g
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM gold_ratings u WHERE u.undoes = g.gold_id)
    QUALIFY row_number() OVER (PARTITION BY transcript_id ORDER BY gold_id DESC) = 1;
"""


def create_rating_team_tables(connection: DuckDBPyConnection) -> None:
    """Adds four tables and the views of what holds: a later row of a game counts, and one that is withdrawn does not.

    ``last_rating`` is the number of the rating that was asked for again; a later one answers the request.
    """
    connection.execute(_TABLES)
    connection.execute(_CURRENT)
