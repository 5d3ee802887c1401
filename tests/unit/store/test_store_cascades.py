"""Deletes of agents and runs take along what belongs to them, as the specification's cascades would."""

from __future__ import annotations

import pytest

from evaluation.store import Store

TABLES = ("agents", "runs", "evaluation_runs", "evaluation_scores", "correction_logs", "agent_evaluation_config")
RUN = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def store() -> Store:
    """Two agents with an evaluation of two scores, a config and a correction each, the corrections in one run."""
    store = Store(":memory:")
    with store.unit(write=True) as cursor:
        cursor.execute("INSERT INTO runs (id, kind) VALUES (?, 'simulation')", [RUN])
        for agent in ("ann", "bob"):
            cursor.execute("INSERT INTO agents (id, display_name) VALUES (?, ?)", [agent, agent])
            cursor.execute("INSERT INTO agent_evaluation_config (agent_id) VALUES (?)", [agent])
            cursor.execute(
                "INSERT INTO evaluation_runs (agent_id, dimensions, sample_size) VALUES (?, ['fluency'], 2)", [agent]
            )
            cursor.execute(
                """INSERT INTO correction_logs (agent_id, run_id, original_text, attempt_number, outcome)
                VALUES (?, ?, 'hello', 1, 'passed')""",
                [agent, RUN],
            )
        cursor.execute(
            """INSERT INTO evaluation_scores (evaluation_run_id, dimension, proposition_id, score, reasoning)
            SELECT id, 'fluency', 'p' || n, 7, 'because' FROM evaluation_runs, range(2) numbers(n)"""
        )
    return store


def counts(store: Store) -> dict[str, int]:
    with store.unit() as cursor:
        return {table: len(cursor.execute(f"SELECT 1 FROM {table}").fetchall()) for table in TABLES}


ALL = dict(zip(TABLES, (2, 1, 2, 4, 2, 2), strict=True))


def test_an_agent_goes_with_all_that_is_its_own(store: Store) -> None:
    assert counts(store) == ALL
    store.agents.delete("ann")
    assert counts(store) == dict(zip(TABLES, (1, 1, 1, 2, 1, 1), strict=True))
    store.agents.delete("bob")
    assert counts(store) == dict.fromkeys(TABLES, 0) | {"runs": 1}


def test_an_evaluation_run_goes_with_its_scores(store: Store) -> None:
    with store.unit() as cursor:
        row = cursor.execute("SELECT id FROM evaluation_runs WHERE agent_id = 'ann'").fetchone()
    assert row is not None
    store.evaluations.delete(str(row[0]))
    assert counts(store) == ALL | {"evaluation_runs": 1, "evaluation_scores": 2}


def test_the_corrections_of_a_run_stay_without_it(store: Store) -> None:
    store.corrections.delete_run(RUN)
    assert counts(store) == ALL | {"runs": 0}
    with store.unit() as cursor:
        assert cursor.execute("SELECT DISTINCT run_id FROM correction_logs").fetchall() == [(None,)]
