"""Delete agents and runs with everything that refers to them, because DuckDB has no cascading deletes.

DuckDB sees a row as still referenced until the transaction that deleted the reference has ended. So each level is a
transaction of its own, the lowest first. A delete that was interrupted leaves fewer rows but no dangling one, and can
be repeated.
"""

from __future__ import annotations

from evaluation.store.engine.transactions import Units

_OF_AGENT = "SELECT id FROM evaluation_runs WHERE agent_id = ?"


def delete_agent(units: Units, agent_id: str) -> None:
    """Removes an agent with its evaluations, corrections, config and speakers. An unknown one is gone already."""
    _in_turn(
        units,
        agent_id,
        f"DELETE FROM evaluation_scores WHERE evaluation_run_id IN ({_OF_AGENT})",
        f"DELETE FROM score_failures WHERE evaluation_run_id IN ({_OF_AGENT})",
        "DELETE FROM evaluation_runs WHERE agent_id = ?",
        "DELETE FROM correction_logs WHERE agent_id = ?",
        "DELETE FROM agent_evaluation_config WHERE agent_id = ?",
        "DELETE FROM agent_speakers WHERE agent_id = ?",
        "DELETE FROM agents WHERE id = ?",
    )


def delete_evaluation_run(units: Units, evaluation_run_id: str) -> None:
    """Removes an evaluation run with its scores and failures."""
    _in_turn(
        units,
        evaluation_run_id,
        "DELETE FROM evaluation_scores WHERE evaluation_run_id = ?",
        "DELETE FROM score_failures WHERE evaluation_run_id = ?",
        "DELETE FROM evaluation_runs WHERE id = ?",
    )


def delete_run(units: Units, run_id: str) -> None:
    """Removes a run; the corrections made in it stay, without it."""
    _in_turn(
        units,
        run_id,
        "UPDATE correction_logs SET run_id = NULL WHERE run_id = ?",
        "DELETE FROM runs WHERE id = ?",
    )


def _in_turn(units: Units, key: str, *statements: str) -> None:
    for statement in statements:
        with units.unit(write=True) as cursor:
            cursor.execute(statement, [key])
