"""The tables: the specification's column for column, ours after them; older, newer and foreign files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import NewerSchemaError, StoreError
from evaluation.store import Store
from evaluation.store.database import SCHEMA, applied, make_tables

# spec/persona-evaluation.md, Data Model: (column, type, may be empty, default), in its order.
UUID = ("UUID", False, "gen_random_uuid()")
NOW = ("TIMESTAMP WITH TIME ZONE", False, "now()")
OFF = ("BOOLEAN", False, "false")
# The table of the specification that says these is held by test_corrections_gate.py.
DEFAULTS = CorrectionConfig().model_dump()
KINDS = {bool: "BOOLEAN", int: "INTEGER", float: "FLOAT"}
SPECIFIED = {
    "evaluation_runs": {
        "id": UUID,
        "agent_id": ("VARCHAR", False, None),
        "status": ("VARCHAR", False, "'pending'"),
        "dimensions": ("VARCHAR[]", False, None),
        "window_start": ("TIMESTAMP WITH TIME ZONE", True, None),
        "window_end": ("TIMESTAMP WITH TIME ZONE", True, None),
        "sample_size": ("INTEGER", False, None),
        "overall_score": ("FLOAT", True, None),
        "is_baseline": OFF,
        "token_usage": ("JSON", True, None),
        "created_at": NOW,
        "completed_at": ("TIMESTAMP WITH TIME ZONE", True, None),
    },
    "evaluation_scores": {
        "id": UUID,
        "evaluation_run_id": ("UUID", False, None),
        "dimension": ("VARCHAR", False, None),
        "proposition_id": ("VARCHAR", False, None),
        "score": ("FLOAT", False, None),
        "reasoning": ("VARCHAR", False, None),
        "context_snippet": ("VARCHAR", True, None),
        "created_at": NOW,
    },
    "correction_logs": {
        "id": UUID,
        "agent_id": ("VARCHAR", False, None),
        "run_id": ("UUID", True, None),
        "original_text": ("VARCHAR", False, None),
        "corrected_text": ("VARCHAR", True, None),
        "dimension_scores": ("JSON", True, None),
        "similarity_score": ("FLOAT", True, None),
        "total_score": ("FLOAT", True, None),
        "attempt_number": ("INTEGER", False, None),
        "outcome": ("VARCHAR", False, None),
        "token_usage": ("JSON", True, None),
        "created_at": NOW,
    },
    "agent_evaluation_config": {
        "id": UUID,
        "agent_id": ("VARCHAR", False, None),
        **{name: (KINDS[type(value)], False, str(value).lower()) for name, value in DEFAULTS.items()},
        "updated_at": NOW,
    },
}


@pytest.fixture
def cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    with Store(":memory:").unit() as cursor:
        yield cursor


@pytest.mark.parametrize("table", SPECIFIED)
def test_the_specified_tables_come_column_for_column(cursor: duckdb.DuckDBPyConnection, table: str) -> None:
    query = """SELECT column_name, data_type, is_nullable, column_default FROM duckdb_columns()
        WHERE table_name = ? ORDER BY column_index"""
    rows = cursor.execute(query, [table]).fetchall()
    defaults = {"CAST('f' AS BOOLEAN)": "false", "CAST('t' AS BOOLEAN)": "true"}
    columns = {name: (kind, empty, defaults.get(default, default)) for name, kind, empty, default in rows}
    specified = SPECIFIED[table]
    assert {name: columns[name] for name in specified} == specified
    assert list(columns)[: len(specified)] == list(specified), "columns of ours stand after the specification's"


def test_the_specified_indexes_are_there(cursor: duckdb.DuckDBPyConnection) -> None:
    rows = cursor.execute("SELECT table_name, expressions FROM duckdb_indexes()").fetchall()
    assert set(rows) >= {
        ("evaluation_runs", "[agent_id, created_at]"),
        ("evaluation_scores", "[evaluation_run_id, dimension]"),
        ("correction_logs", "[agent_id, created_at]"),
    }


@pytest.mark.parametrize(("dimension", "score"), [("adherence", 9.5), ("convergence", -1), ("ideas_quantity", -1)])
def test_the_checks_refuse_a_score_off_the_scale(
    cursor: duckdb.DuckDBPyConnection, dimension: str, score: float
) -> None:
    cursor.execute("INSERT INTO agents (id, display_name) VALUES ('ann', 'Ann')")
    cursor.execute("INSERT INTO evaluation_runs (agent_id, dimensions, sample_size) VALUES ('ann', ['fluency'], 3)")
    with pytest.raises(duckdb.ConstraintException):
        cursor.execute(
            """INSERT INTO evaluation_scores (evaluation_run_id, dimension, proposition_id, score, reasoning)
            SELECT id, ?, 'p', ?, 'because' FROM evaluation_runs""",
            [dimension, score],
        )


def test_an_agent_has_one_config_with_the_specified_defaults(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute("INSERT INTO agents (id, display_name) VALUES ('ann', 'Ann')")
    cursor.execute("INSERT INTO agent_evaluation_config (agent_id) VALUES ('ann')")
    query = "SELECT gate_fluency_enabled, gate_fluency_threshold, continue_on_failure FROM agent_evaluation_config"
    assert cursor.execute(query).fetchall() == [(False, 7.0, True)]
    with pytest.raises(duckdb.ConstraintException):
        cursor.execute("INSERT INTO agent_evaluation_config (agent_id) VALUES ('ann')")
    with pytest.raises(duckdb.ConstraintException):
        cursor.execute("INSERT INTO agent_evaluation_config (agent_id) VALUES ('nobody')")


@pytest.mark.parametrize("number", [4, 32])
def test_a_database_from_before_the_first_release_is_refused(tmp_path: Path, number: int) -> None:
    path = tmp_path / "earlier.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE schema_migrations (number integer, name text, applied_at timestamptz)")
        connection.execute("INSERT INTO schema_migrations SELECT range, 'step', now() FROM range(1, ?)", [number + 1])
        connection.execute("CREATE TABLE agents (id text PRIMARY KEY)")
    with pytest.raises(StoreError, match="before the first release") as refused:
        Store(path).transcripts.summaries()
    for command in ("dramaturg export transcripts --format canonical", "dramaturg export ratings"):
        assert command in str(refused.value)
    with duckdb.connect(str(path)) as connection:
        assert applied(connection) == number


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "newer.duckdb"
    with duckdb.connect(str(path)) as connection:
        make_tables(connection)
        connection.execute("INSERT INTO schema_migrations (number, name) VALUES (99, 'from_the_future')")
    with pytest.raises(NewerSchemaError, match=rf"schema 99.*knows {SCHEMA}.*Update Dramaturg"):
        Store(path).transcripts.summaries()
    with duckdb.connect(str(path)) as connection:
        assert applied(connection) == 99


def test_tables_that_could_not_be_made_leave_no_transaction_open() -> None:
    with duckdb.connect() as connection:
        # One of the names that the tables need: a statement in the middle fails.
        connection.execute("CREATE SEQUENCE deletion_numbers")
        with pytest.raises(duckdb.CatalogException, match="deletion_numbers"):
            make_tables(connection)
        assert applied(connection) == 0
        connection.execute("DROP SEQUENCE deletion_numbers")
        make_tables(connection)
        assert applied(connection) == SCHEMA
