"""Iterations, and transcripts with what was said and done in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ITERATIONS = """
CREATE SEQUENCE iteration_numbers;
CREATE TABLE iterations (
    position bigint NOT NULL,
    name text PRIMARY KEY,
    parent text,
    prompt_text text NOT NULL DEFAULT '',
    change text NOT NULL DEFAULT '',
    target_metric text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE iteration_event_numbers;
CREATE TABLE iteration_events (
    event_id bigint NOT NULL DEFAULT nextval('iteration_event_numbers'),
    iteration text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('promoted', 'signed_off')),
    who text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
"""

# ``document`` is the canonical JSON (zlib), from which a transcript is read back without loss (time zones, metadata).
# The other tables hold the same for SQL, without indexes: they are only ever scanned or joined.
_TRANSCRIPTS = """
CREATE SEQUENCE transcript_numbers;
CREATE TABLE transcripts (
    transcript_id text PRIMARY KEY,
    position bigint NOT NULL,
    game_id text NOT NULL,
    source_format text NOT NULL,
    source_name text NOT NULL,
    iteration text,
    language text,
    started_at timestamptz,
    winner text,
    players integer NOT NULL,
    messages integer NOT NULL,
    total_usd double,
    input_tokens bigint,
    cached_tokens bigint,
    output_tokens bigint,
    cache_hit_rate double,
    added_at timestamptz NOT NULL DEFAULT now(),
    document blob NOT NULL
);
CREATE TABLE players (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    name text NOT NULL,
    role text,
    alignment text,
    personality text,
    persona JSON,
    model text,
    is_human boolean,
    is_alive boolean,
    metadata JSON
);
CREATE TABLE messages (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    message_id text NOT NULL,
    round integer,
    phase text,
    channel text NOT NULL,
    channel_name text,
    speaker text NOT NULL,
    recipients text[],
    text text NOT NULL,
    sent_at timestamptz,
    reply_to text,
    is_control boolean NOT NULL,
    metadata JSON
);
CREATE TABLE votes (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    round integer,
    phase text,
    voter text NOT NULL,
    target text,
    justification text,
    sent_at timestamptz
);
CREATE TABLE eliminations (
    transcript_id text NOT NULL,
    position integer NOT NULL,
    round integer,
    phase text,
    player text NOT NULL,
    role text,
    sent_at timestamptz
);
"""


def create_transcript_tables(connection: DuckDBPyConnection) -> None:
    """``transcripts.position`` counts up over the whole store: the order in which games entered their iteration."""
    connection.execute(_ITERATIONS)
    connection.execute(_TRANSCRIPTS)
