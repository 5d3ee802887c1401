"""Experiments: the runs, their conversations, and the scores of their agents."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.experiments.plan import AgentScore, ExperimentRecord, ExperimentStatus, Session, Side
from evaluation.store._bulk_rows import append_rows, from_microseconds, maybe_from_microseconds, packed, picked
from evaluation.store.transactions import Units

_Records = list[ExperimentRecord]

AB = "ab"
"""The kind of A/B tests; ``config["kind"]`` of the others is "experiment"."""

_AB_TESTS = uuid.UUID("0f4c8b52-33f5-4c0f-8a43-0a1d7d6a9c11")


def ab_test_id(config: Mapping[str, Any]) -> str:
    """The id under which an A/B test of this configuration is kept."""
    return str(uuid.uuid5(_AB_TESTS, json.dumps(config, sort_keys=True, default=str)))


class Experiments:
    """Reads and writes ``experiments`` and their sessions, scores and activity, and the ``ab_runs`` of A/B tests."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def begin(self, record: ExperimentRecord) -> None:
        """Records that an experiment runs; one that is known goes on."""
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(
                """INSERT INTO experiments (id, name, scenario, seed, scale, status, config)
                VALUES (?, ?, ?, ?, ?, 'running', ?) ON CONFLICT DO NOTHING""",
                [
                    record.id,
                    well_formed(record.name),
                    well_formed(record.scenario),
                    record.seed,
                    record.scale,
                    packed(record.config).decode("utf-8"),
                ],
            )
            cursor.execute("UPDATE experiments SET status = 'running', completed_at = NULL WHERE id = ?", [record.id])

    def end(self, experiment_id: str, status: ExperimentStatus, results: Mapping[str, Any] | None = None) -> None:
        """Records how far it came: ``completed`` with results, ``pending`` when it can go on, or ``failed``."""
        self._units.write(
            """UPDATE experiments SET status = ?, results = ?,
            completed_at = CASE WHEN ? = 'completed' THEN now() END WHERE id = ?""",
            [str(status), None if results is None else packed(results).decode("utf-8"), str(status), experiment_id],
        )

    def keep_ab_test(self, config: Mapping[str, Any], results: Mapping[str, Any]) -> str:
        """Stores what an A/B test found, in place of what the same test found before.

        Args:
            config: The test's configuration, as data; it has a ``name``.
            results: As ``ABTestResult.as_dict`` gives them.

        Returns:
            The id under which it is kept.
        """
        with self._units.unit(write=True, join=True):
            key = self.begin_ab_test(config)
            self.end(key, ExperimentStatus.COMPLETED, results)
        return key

    def begin_ab_test(self, config: Mapping[str, Any]) -> str:
        """Records that an A/B test runs; one of the same configuration goes on, and its results stay until the end.

        Args:
            config: As for ``keep_ab_test``.

        Returns:
            The id under which it is kept.
        """
        key = ab_test_id(config)
        self.begin(ExperimentRecord(key, str(config.get("name", "")), AB, 0, 1.0, {"kind": AB, "test": dict(config)}))
        return key

    def add_ab_run(self, experiment_id: str, run: str) -> None:
        """Stores a finished run of an A/B test, as ``run_line`` of its progress writes it."""
        self._units.write("INSERT INTO ab_runs (experiment_id, run) VALUES (?, ?)", [experiment_id, run])

    def ab_runs(self, experiment_id: str | None = None) -> list[str]:
        """The finished runs of an A/B test, or of all, in the order in which they were stored."""
        query = "SELECT run::text FROM ab_runs WHERE coalesce(experiment_id = ?, true) ORDER BY rowid"
        return [run for (run,) in self._units.rows(query, [experiment_id])]

    def all(self) -> _Records:
        """Every experiment, the latest first."""
        return self._select("ORDER BY rowid DESC", [])

    def get(self, experiment_id: str) -> ExperimentRecord:
        """The experiment of that id, or of an id that begins like this.

        Raises:
            NotFoundError: There is none, or there are several.
        """
        found = self._select("WHERE starts_with(id::text, ?)", [well_formed(experiment_id)])
        if len(found) != 1 or not experiment_id:
            raise NotFoundError(
                f"There is no experiment {experiment_id!r}." if not found else f"{len(found)} experiments begin so.",
                remedy="See them with: dramaturg experiment report.",
            )
        return found[0]

    def add_session(self, experiment_id: str, session: Session) -> None:
        """Notes which transcript a conversation became; one that is noted already stays."""
        self._units.write(
            """INSERT INTO experiment_sessions (experiment_id, side, environment, transcript_id)
            VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING""",
            [experiment_id, str(session.side), session.environment, session.transcript_id],
        )

    def add_scores(self, experiment_id: str, scores: Sequence[AgentScore]) -> None:
        """Stores all scores of one conversation, in one transaction; those that are stored already stay."""
        with self._units.unit(write=True, join=True) as cursor:
            known = {(score.side, score.environment) for score in self.scores(experiment_id)}
            new = [score for score in scores if (score.side, score.environment) not in known]
            append_rows(cursor, "experiment_scores", [_score_row(experiment_id, score) for score in new])

    def add_activity(self, experiment_id: str, side: Side, environment: int, counts: Mapping[str, Any]) -> None:
        """Adds counts of one conversation; those of a part that is done later add up with them."""
        self._units.write(
            "INSERT INTO experiment_activity (experiment_id, side, environment, activity) VALUES (?, ?, ?, ?)",
            [experiment_id, str(side), environment, packed(counts).decode("utf-8")],
        )

    def activity(self, experiment_id: str) -> list[tuple[Side, dict[str, Any]]]:
        """The counts of all conversations with their side, in the order in which they were added."""
        query = "SELECT side, activity::text FROM experiment_activity WHERE experiment_id = ? ORDER BY rowid"
        rows = self._units.rows(query, [experiment_id])
        return [(Side(side), json.loads(counts)) for side, counts in rows]

    def sessions(self, experiment_id: str) -> list[Session]:
        """The conversations that are stored, treatment after control, by environment."""
        query = """SELECT side, environment, transcript_id FROM experiment_sessions
            WHERE experiment_id = ? ORDER BY side, environment"""
        rows = self._units.rows(query, [experiment_id])
        return [Session(Side(side), environment, transcript_id) for side, environment, transcript_id in rows]

    def scores(self, experiment_id: str) -> list[AgentScore]:
        """The scores of all evaluated conversations, treatment after control, by environment."""
        query = """SELECT side, environment, agent, dimension, score, items, reason FROM experiment_scores
            WHERE experiment_id = ? ORDER BY side, environment, dimension, agent"""
        rows = self._units.rows(query, [experiment_id])
        return [AgentScore(Side(side), *rest) for side, *rest in rows]

    def _select(self, rest: str, values: Sequence[object]) -> _Records:
        return [_record(row) for row in self._units.rows(f"{_SELECT} {rest}", values)]


_SELECT = """
SELECT id::text, name, scenario, seed, scale, status, config::text, results::text, epoch_us(created_at),
    epoch_us(completed_at) FROM experiments
"""


def _record(row: tuple[Any, ...]) -> ExperimentRecord:
    key, name, scenario, seed, scale, status, config, results, created, completed = row
    return ExperimentRecord(
        id=key,
        name=name,
        scenario=scenario,
        seed=seed,
        scale=scale,
        config=json.loads(config),
        status=ExperimentStatus(status),
        results=json.loads(results) if results else None,
        created_at=from_microseconds(created),
        completed_at=maybe_from_microseconds(completed),
    )


def _score_row(experiment_id: str, score: AgentScore) -> dict[str, Any]:
    return {
        "experiment_id": experiment_id,
        **picked(score, "environment", "dimension", "score", "items"),
        "side": str(score.side),
        "agent": well_formed(score.agent),
        "reason": well_formed(score.reason),
    }
