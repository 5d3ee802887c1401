"""Runtime corrections: the settings of each agent, and the log of every checked message."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from evaluation.corrections.action_gate import (
    Attempt,
    DimensionCheck,
    GateOutcome,
    GateResult,
    LoggedMessage,
    MessageScore,
)
from evaluation.corrections.config import CorrectionConfig
from evaluation.escaping import well_formed, without_controls
from evaluation.persona.agents import Agent
from evaluation.store._agents import Agents
from evaluation.store._bulk_rows import append_rows, by_name, from_json, from_microseconds, to_json
from evaluation.store.transactions import Units
from evaluation.text.agent_names import agent_name, slug_of

COLUMNS = """group_id::text AS group_id, agent_id, attempt_number, attempt_text, is_committed, outcome, original_text,
    dimension_scores::text AS dimension_scores, similarity_score, is_similar, feedback,
    epoch_us(created_at) AS created_us, coalesce(run_id, experiment_id)::text AS run"""


def row_of(
    result: GateResult, agent_id: str, attempt: Attempt, group: str, run_id: str | None, experiment_id: str | None
) -> dict[str, Any]:
    """The row of one attempt of a message that was checked, of the agent with that id."""
    committed = result.committed
    is_corrected = committed is not None and committed.number > 0
    return {
        "agent_id": agent_id,
        "run_id": run_id,
        "experiment_id": experiment_id,
        "original_text": without_controls(result.original),
        "corrected_text": without_controls(result.text) if is_corrected else None,
        "dimension_scores": _scores(attempt),
        "similarity_score": attempt.similarity,
        "total_score": attempt.total,
        "attempt_number": attempt.number,
        "outcome": str(result.outcome),
        "token_usage": _usage(attempt),
        "group_id": group,
        "attempt_text": without_controls(attempt.text),
        "is_committed": committed is not None and attempt.number == committed.number,
        "feedback": without_controls(attempt.feedback),
        "is_similar": attempt.is_similar,
    }


def _message(rows: list[dict[str, Any]]) -> LoggedMessage:
    first = rows[0]
    attempts = tuple(map(_attempt, rows))
    sent = next((attempt for attempt, row in zip(attempts, rows, strict=True) if row["is_committed"]), None)
    result = GateResult(first["agent_id"], sent, GateOutcome(first["outcome"]), attempts)
    return LoggedMessage(first["group_id"], from_microseconds(first["created_us"]), result, first["run"] or "")


def _attempt(row: Mapping[str, Any]) -> Attempt:
    scores = from_json(row["dimension_scores"]) or {}
    text = row["original_text"] if row["attempt_text"] is None else row["attempt_text"]
    return Attempt(
        number=row["attempt_number"],
        text=text,
        checks=tuple(_check(name, found) for name, found in scores.items()),
        similarity=_exact(row["similarity_score"]),
        is_similar=bool(row["is_similar"]),
        feedback=row["feedback"] or "",
    )


def _check(dimension: str, found: Mapping[str, Any]) -> DimensionCheck:
    # Older rows may hold no more than score and reasoning, as the specification has it.
    said = MessageScore(
        found.get("score"),
        found.get("reasoning", ""),
        tuple(found.get("recommendations", ())),
        is_breaker_open=bool(found.get("breaker_open")),
        calls=found.get("calls"),
        cost_usd=found.get("cost_usd"),
    )
    return DimensionCheck(dimension, found.get("threshold", 0.0), said)


def _exact(value: Any) -> Any:
    # A column of type real holds seven digits: 0.6 comes back as 0.6000000238.
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _scores(attempt: Attempt) -> str | None:
    return to_json(
        {
            check.dimension: {
                "score": check.found.score,
                "threshold": check.threshold,
                "reasoning": without_controls(check.found.reasoning),
                "recommendations": [without_controls(line) for line in check.found.recommendations],
                "calls": check.found.calls,
                "cost_usd": check.found.cost_usd,
                **({"breaker_open": True} if check.found.is_breaker_open else {}),
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


_FIELDS = tuple(CorrectionConfig.model_fields)
LATEST = 5_000
"""So many messages are looked at."""


class Corrections:
    """Reads and writes ``agent_evaluation_config`` and ``correction_logs``."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._agents = Agents(units)

    def agent(self, reference: str, name: str = "") -> Agent:
        """The agent that somebody means by an id or a name; a new one where nobody is known by it.

        Args:
            reference: An id or a name.
            name: The display name of an agent that has none besides its id; the reference when left out.

        Raises:
            InputError: Several agents have that name, or it cannot be an agent's name.
        """
        kept = agent_name(reference)
        found = self._agents.resolve(reference) or Agent(slug_of(kept), kept)
        is_nameless = found.display_name in (found.id, reference) and found.persona is None
        return replace(found, display_name=name) if name and is_nameless else found

    def config(self, agent: str) -> CorrectionConfig:
        """The agent's configuration; the defaults, everything off, for one that has none.

        Like everywhere here, the agent is named by its id or its display name.

        Raises:
            InputError: Several agents have that name, or UTF-8 cannot hold it.
        """
        return self.stored_config(agent) or CorrectionConfig()

    def stored_config(self, agent: str) -> CorrectionConfig | None:
        """The configuration that somebody stored for the agent; ``None`` when nobody did."""
        return self.configs().get(self.agent(agent).id)

    def configs(self) -> dict[str, CorrectionConfig]:
        """The configuration of every agent that has one, by agent id in alphabetical order."""
        query = f"SELECT agent_id, {', '.join(_FIELDS)} FROM agent_evaluation_config ORDER BY agent_id"
        rows = self._units.rows(query)
        return {row[0]: CorrectionConfig(**dict(zip(_FIELDS, map(_exact, row[1:]), strict=True))) for row in rows}

    def configure(self, agent: str, config: CorrectionConfig) -> None:
        """Stores the agent's configuration in place of the one before; an unknown agent becomes known.

        Raises:
            InputError: Several agents have that name, or it cannot be an agent's name.
        """
        values = config.model_dump()
        with self._units.unit(write=True, join=True) as cursor:
            known = self.agent(agent)
            self._agents.ensure([known])
            updates = ", ".join(f"{name} = excluded.{name}" for name in _FIELDS)
            cursor.execute(
                f"""INSERT INTO agent_evaluation_config (agent_id, {", ".join(_FIELDS)})
                VALUES (?, {", ".join("?" * len(_FIELDS))})
                ON CONFLICT (agent_id) DO UPDATE SET {updates}, updated_at = now()""",
                [known.id, *(values[name] for name in _FIELDS)],
            )

    def begin_run(self, label: str) -> str:
        """Stores a run of a simulation, such as one process that uses the gate; returns the id for ``add``."""
        run_id = str(uuid.uuid4())
        self._units.write(
            "INSERT INTO runs (id, kind, status, label) VALUES (?, 'simulation', 'running', ?)",
            [run_id, well_formed(label)],
        )
        return run_id

    def end_run(self, run_id: str) -> None:
        """Marks a run as completed."""
        self._units.write("UPDATE runs SET status = 'completed', completed_at = now() WHERE id = ?", [run_id])

    def delete_run(self, run_id: str) -> None:
        """Removes a run; the corrections made in it stay, without it."""
        self._units.execute_in_turn(
            run_id, "UPDATE correction_logs SET run_id = NULL WHERE run_id = ?", "DELETE FROM runs WHERE id = ?"
        )

    def add(self, result: GateResult, *, run_id: str | None = None, experiment_id: str | None = None) -> str:
        """Logs a checked message: one row per attempt, all of one group, in one transaction.

        Every row holds the original text, and the committed text where a retry was committed. A result without an
        outcome was not checked, and is not logged.

        Args:
            result: Of the gate.
            run_id: The run that the message belongs to, from ``begin_run``; messages of experiments have
                ``experiment_id`` in its place, and what is logged without either has none.
            experiment_id: The experiment that it was written in.

        Returns:
            The id of the group, empty when nothing was logged.
        """
        if result.outcome is None:
            return ""
        group = str(uuid.uuid4())
        with self._units.unit(write=True, join=True) as cursor:
            agent = self.agent(well_formed(result.agent), well_formed(result.name))
            self._agents.ensure([agent])
            rows = [row_of(result, agent.id, attempt, group, run_id, experiment_id) for attempt in result.attempts]
            append_rows(cursor, "correction_logs", rows)
        return group

    def forget(self, agent: str) -> None:
        """Takes back the agent's configuration: the defaults hold again, everything off."""
        self._units.write("DELETE FROM agent_evaluation_config WHERE agent_id = ?", [self.agent(agent).id])

    def messages(self, agent: str | None = None) -> list[LoggedMessage]:
        """The latest messages that were checked, of one agent or of all, newest first, with all their attempts."""
        values = {"agent": agent and self.agent(agent).id, "limit": LATEST}
        with self._units.unit() as cursor:
            rows = by_name(cursor.execute(_LATEST, values))
        return [_message(list(group)) for _, group in groupby(rows, key=lambda row: str(row["group_id"]))]

    def count(self, agent: str | None = None) -> int:
        """Number of checked messages, of one agent or of all."""
        query = "SELECT count(DISTINCT group_id) FROM correction_logs WHERE $agent IS NULL OR agent_id = $agent"
        return int(self._units.rows(query, {"agent": agent and self.agent(agent).id})[0][0])

    def agents(self) -> dict[str, int]:
        """Every agent with a checked message or a configuration, with how many messages were checked; most first."""
        return dict(self._units.rows(_AGENTS))


_LATEST = f"""
WITH latest AS (
    SELECT group_id, max(rowid) AS place FROM correction_logs
    WHERE group_id IS NOT NULL AND ($agent IS NULL OR agent_id = $agent)
    GROUP BY group_id ORDER BY place DESC LIMIT $limit
)
SELECT {COLUMNS} FROM correction_logs JOIN latest USING (group_id)
ORDER BY latest.place DESC, attempt_number
"""

_AGENTS = """
SELECT agent_id, count(DISTINCT group_id) AS messages FROM (
    SELECT agent_id, group_id FROM correction_logs UNION ALL SELECT agent_id, NULL FROM agent_evaluation_config
)
GROUP BY agent_id ORDER BY messages DESC, agent_id
"""
