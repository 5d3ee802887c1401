"""Experiments and A/B tests, and the runs that they are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.experiments.plan import ExperimentRecord, ExperimentStatus, StudyRun
from evaluation.store._bulk_rows import from_microseconds, maybe_from_microseconds, packed
from evaluation.store.transactions import Units

_Records = list[ExperimentRecord]
_RUNS = TypeAdapter(StudyRun)


class Experiments:
    """Reads and writes ``experiments``, A/B tests among them, and their ``study_runs``."""

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

    def add_run(self, experiment_id: str, run: StudyRun) -> None:
        """Stores a run of an experiment or an A/B test, or a part of one."""
        self._units.write(
            "INSERT INTO study_runs (experiment_id, arm, unit, run) VALUES (?, ?, ?, ?)",
            [experiment_id, well_formed(run.arm), run.unit, _RUNS.dump_json(run).decode("utf-8")],
        )

    def runs(self, experiment_id: str | None = None) -> list[StudyRun]:
        """The runs of an experiment or an A/B test, or of all, in the parts and the order in which they were stored.

        What is damaged is left out.
        """
        query = "SELECT run::text FROM study_runs WHERE coalesce(experiment_id = ?, true) ORDER BY rowid"
        found = []
        for (text,) in self._units.rows(query, [experiment_id]):
            with suppress(ValidationError):
                found.append(_RUNS.validate_json(text))
        return found

    def all(self, kind: str = "") -> _Records:
        """Every study of a kind, or of both, the latest first."""
        return [one for one in self._select("ORDER BY rowid DESC", []) if kind in ("", one.kind)]

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
