"""Runtime corrections: what is corrected for each agent, and the log of every message that was checked."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from evaluation.corrections.attempts import Attempt, GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.store.checks import readable, require_text
from evaluation.store.tables import append, columns_of, frame, to_json
from evaluation.store.units import Units

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

_FIELDS = tuple(CorrectionConfig.model_fields)


class Corrections:
    """Reads and writes ``agent_evaluation_config`` and ``correction_logs``."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def config(self, agent: str) -> CorrectionConfig:
        """The agent's configuration; the defaults, everything off, for one that has none."""
        return self.configs().get(agent, CorrectionConfig())

    def configs(self) -> dict[str, CorrectionConfig]:
        """The configuration of every agent that has one, by agent id in alphabetical order."""
        query = f"SELECT agent_id, {', '.join(_FIELDS)} FROM agent_evaluation_config ORDER BY agent_id"
        with self._units.unit() as cursor:
            rows = cursor.execute(query).fetchall()
        return {row[0]: CorrectionConfig(**_values(row[1:])) for row in rows}

    def configure(self, agent: str, config: CorrectionConfig) -> None:
        """Stores the agent's configuration in place of the one before; an unknown agent becomes known.

        Raises:
            InputError: The agent's id is blank or no text.
        """
        require_text(agent=agent)
        values = config.model_dump()
        with self._units.unit(write=True) as cursor:
            _ensure_agent(cursor, agent)
            updates = ", ".join(f"{name} = excluded.{name}" for name in _FIELDS)
            cursor.execute(
                f"""INSERT INTO agent_evaluation_config (agent_id, {", ".join(_FIELDS)})
                VALUES (?, {", ".join("?" * len(_FIELDS))})
                ON CONFLICT (agent_id) DO UPDATE SET {updates}, updated_at = now()""",
                [agent, *(values[name] for name in _FIELDS)],
            )

    def add(self, result: GateResult, *, run_id: str | None = None) -> str:
        """Logs a checked message: one row per attempt, all of one group, in one transaction.

        Every row holds the original text, and the committed text where a retry was committed. A result without an
        outcome was not checked, and is not logged.

        Returns:
            The id of the group, empty when nothing was logged.
        """
        if result.outcome is None:
            return ""
        group = str(uuid.uuid4())
        rows = [_row(result, attempt, group, run_id) for attempt in result.attempts]
        with self._units.unit(write=True) as cursor:
            _ensure_agent(cursor, readable(result.agent))
            append(cursor, "correction_logs", columns_of(rows))
        return group

    def log(self, agent: str | None = None) -> pd.DataFrame:
        """Every attempt ever logged, of one agent or of all, in the order of time and attempt.

        Returns:
            ``group_id``, ``agent_id``, ``run_id``, ``attempt_number`` (0 is the original), ``attempt_text``,
            ``is_committed``, ``outcome``, ``original_text``, ``corrected_text`` (empty unless a retry was committed),
            ``dimension_scores`` (JSON text: dimension to score, threshold, reasoning), ``similarity_score`` (0 to 1),
            ``total_score``, ``feedback``, ``token_usage`` (JSON text) and ``created_at`` (UTC).
        """
        with self._units.unit() as cursor:
            return frame(cursor, _LOG, {"agent": agent}, times=["created_at"])


_LOG = """
SELECT group_id::text AS group_id, agent_id, run_id::text AS run_id, attempt_number, attempt_text, is_committed,
       outcome, original_text, corrected_text, dimension_scores::text AS dimension_scores, similarity_score,
       total_score, feedback, token_usage::text AS token_usage, timezone('UTC', created_at) AS created_at
FROM correction_logs WHERE $agent IS NULL OR agent_id = $agent
ORDER BY correction_logs.created_at, group_id, attempt_number
"""


def _values(row: tuple[Any, ...]) -> dict[str, Any]:
    # A column of type real holds seven digits: 0.6 comes back as 0.6000000238.
    return {
        name: float(f"{value:.7g}") if isinstance(value, float) else value
        for name, value in zip(_FIELDS, row, strict=True)
    }


def _ensure_agent(cursor: DuckDBPyConnection, agent: str) -> None:
    cursor.execute("INSERT INTO agents (id, display_name) VALUES (?, ?) ON CONFLICT DO NOTHING", [agent, agent])


def _row(result: GateResult, attempt: Attempt, group: str, run_id: str | None) -> dict[str, Any]:
    committed = result.committed
    is_corrected = committed is not None and committed.number > 0
    return {
        "agent_id": readable(result.agent),
        "run_id": run_id,
        "original_text": readable(result.original),
        "corrected_text": readable(result.text) if is_corrected else None,
        "dimension_scores": _scores(attempt),
        "similarity_score": attempt.similarity,
        "total_score": attempt.total,
        "attempt_number": attempt.number,
        "outcome": str(result.outcome),
        "token_usage": _usage(attempt),
        "group_id": group,
        "attempt_text": readable(attempt.text),
        "is_committed": committed is not None and attempt.number == committed.number,
        "feedback": readable(attempt.feedback),
    }


def _scores(attempt: Attempt) -> str | None:
    return to_json(
        {
            check.dimension: {
                "score": check.found.score,
                "threshold": check.threshold,
                "reasoning": readable(check.found.reasoning),
                "recommendations": [readable(line) for line in check.found.recommendations],
            }
            for check in attempt.checks
        }
    )


def _usage(attempt: Attempt) -> str | None:
    found = [check.found for check in attempt.checks]
    sums = {
        "input_tokens": sum(one.input_tokens for one in found),
        "output_tokens": sum(one.output_tokens for one in found),
    }
    return to_json(sums) if any(sums.values()) else None
