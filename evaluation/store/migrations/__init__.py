"""The database's tables, as numbered steps. Each runs once, in a transaction with the record that it ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evaluation.errors import NewerSchemaError, StoreError
from evaluation.store.migrations.m0001_personas import create_persona_tables
from evaluation.store.migrations.m0002_transcripts import create_transcript_tables
from evaluation.store.migrations.m0003_results import create_result_tables
from evaluation.store.migrations.m0004_operations import create_operation_tables
from evaluation.store.migrations.m0005_mending import create_trash_tables
from evaluation.store.migrations.m0006_corrections import create_correction_columns
from evaluation.store.migrations.m0007_imports import create_import_tables
from evaluation.store.migrations.m0008_spool import create_import_queue_tables
from evaluation.store.migrations.m0009_judging import create_judging_columns
from evaluation.store.migrations.m0010_row_decisions import create_decision_tables
from evaluation.store.migrations.m0011_evaluations import create_evaluation_columns
from evaluation.store.migrations.m0012_sign_offs import allow_withdrawals
from evaluation.store.migrations.m0013_rating_desk import create_rating_desk_tables
from evaluation.store.migrations.m0014_experiments import create_experiment_tables
from evaluation.store.migrations.m0015_correction_similarity import create_similarity_column
from evaluation.store.migrations.m0016_order import order_by_numbers
from evaluation.store.migrations.m0017_run_owners import create_run_owners
from evaluation.store.migrations.m0018_decisions import allow_decisions
from evaluation.store.migrations.m0019_handovers import create_handovers
from evaluation.store.migrations.m0020_controls import create_controls
from evaluation.store.migrations.m0021_repeats import create_repeat_column
from evaluation.store.migrations.m0022_insight_answers import create_insight_answers
from evaluation.store.migrations.m0023_activity import create_activity_table
from evaluation.store.migrations.m0024_ab_runs import create_ab_runs
from evaluation.store.migrations.m0025_pair_judgements import create_pair_judgements
from evaluation.store.migrations.m0026_rating_teams import create_rating_team_tables
from evaluation.store.migrations.m0027_proposition_versions import create_proposition_versions
from evaluation.store.migrations.m0028_watched_files import create_watched_files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NAMES = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal
"""

Migration = Callable[["DuckDBPyConnection"], None]

MIGRATIONS: tuple[Migration, ...] = (
    create_persona_tables,
    create_transcript_tables,
    create_result_tables,
    create_operation_tables,
    create_trash_tables,
    create_correction_columns,
    create_import_tables,
    create_import_queue_tables,
    create_judging_columns,
    create_decision_tables,
    create_evaluation_columns,
    allow_withdrawals,
    create_rating_desk_tables,
    create_experiment_tables,
    create_similarity_column,
    order_by_numbers,
    create_run_owners,
    allow_decisions,
    create_handovers,
    create_controls,
    create_repeat_column,
    create_insight_answers,
    create_activity_table,
    create_ab_runs,
    create_pair_judgements,
    create_rating_team_tables,
    create_proposition_versions,
    create_watched_files,
)
"""In the order in which they run; the first has number 1. Only ever append."""


def migrate(connection: DuckDBPyConnection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Brings the database to the newest schema; a database that has it already is left alone.

    Raises:
        NewerSchemaError: The database has more migrations than this version of Dramaturg knows.
    """
    done = applied(connection)
    if done > len(migrations):
        raise NewerSchemaError(
            f"The database has schema {done}; this version of Dramaturg knows {len(migrations)}.",
            remedy="Update Dramaturg, or choose another database with --db.",
        )
    if done < len(migrations) and _may_only_be_read(connection):
        raise StoreError(
            f"The database has schema {done} of an older version, and may only be read there.",
            remedy="Copy it to a place where you may write, and name that, or the file itself, with --db.",
        )
    for number, migration in enumerate(migrations[done:], start=done + 1):
        _run(connection, number, migration)


def applied(connection: DuckDBPyConnection) -> int:
    """The number of the last migration that ran on the database; 0 for an empty one.

    Raises:
        StoreError: It is somebody else's: nothing of ours is in it, but other tables or views are. DuckDB shows CSV and
            JSON files as views of a database in memory, in which everything stored would be lost.
    """
    names = {name for (name,) in connection.execute(_NAMES).fetchall()}
    if names and "schema_migrations" not in names:
        raise StoreError(
            "The file is not a database of Dramaturg; nothing was written to it.",
            remedy="Choose another file with --db; transcripts go in with: dramaturg import.",
        )
    if not names and not _may_only_be_read(connection):
        connection.execute(
            """CREATE TABLE IF NOT EXISTS schema_migrations (
                number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"""
        )
    elif not names:
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM schema_migrations").fetchone()
    assert row is not None
    return int(row[0])


def _may_only_be_read(connection: DuckDBPyConnection) -> bool:
    found = connection.execute("SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()")
    return bool(found.fetchall()[0][0])


def _run(connection: DuckDBPyConnection, number: int, migration: Migration) -> None:
    is_done = False
    connection.begin()
    try:
        migration(connection)
        connection.execute("INSERT INTO schema_migrations (number, name) VALUES (?, ?)", [number, migration.__name__])
        connection.commit()
        is_done = True
    finally:
        if not is_done:
            connection.rollback()
