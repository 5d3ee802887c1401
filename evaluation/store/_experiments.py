"""Experiments and A/B tests, and the runs that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from evaluation.errors import NotFoundError
from evaluation.escaping import well_formed
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import AB_TEST, EXPERIMENT, ExperimentPlan
from evaluation.experiments.results import RunResult, StudyResult
from evaluation.experiments.study import Study, StudyPlan, StudyStatus
from evaluation.store._bulk_rows import from_microseconds, maybe_from_microseconds
from evaluation.store.transactions import UnitsPart

_RUNS, _RESULTS = TypeAdapter(RunResult), TypeAdapter(StudyResult)
_PLANS: dict[str, TypeAdapter[Any]] = {EXPERIMENT: TypeAdapter(ExperimentPlan), AB_TEST: TypeAdapter(ABConfig)}


class Experiments(UnitsPart):
    """Reads and writes ``experiments``, A/B tests among them, and their ``study_runs``."""

    def begin(self, plan: StudyPlan) -> None:
        """Records that a study runs; one that is known goes on."""
        is_test = isinstance(plan, ABConfig)
        config = _PLANS[plan.kind].dump_json(plan, exclude_unset=is_test).decode("utf-8")
        scenario, scale = (AB_TEST, 1.0) if isinstance(plan, ABConfig) else (plan.scenario.id, plan.scale)
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(
                """INSERT INTO experiments (id, name, scenario, seed, scale, status, config)
                VALUES (?, ?, ?, ?, ?, 'running', ?) ON CONFLICT DO NOTHING""",
                [plan.id, well_formed(plan.name), well_formed(scenario), plan.seed, scale, config],
            )
            cursor.execute("UPDATE experiments SET status = 'running', completed_at = NULL WHERE id = ?", [plan.id])

    def end(self, study_id: str, status: StudyStatus, result: StudyResult | None = None) -> None:
        """Records how far it came: ``completed`` with results, ``pending`` when it can go on, or ``failed``."""
        results = None if result is None else to_json(result, inf_nan_mode="strings").decode("utf-8")
        self._units.write(
            """UPDATE experiments SET status = ?, results = ?,
            completed_at = CASE WHEN ? = 'completed' THEN now() END WHERE id = ?""",
            [str(status), results, str(status), study_id],
        )

    def add_run(self, study_id: str, run: RunResult) -> None:
        """Stores a run of a study, or a part of one."""
        text = _RUNS.dump_json(run, exclude_defaults=True).decode("utf-8")
        query = "INSERT INTO study_runs (experiment_id, arm, unit, run) VALUES (?, ?, ?, ?)"
        self._units.write(query, [study_id, well_formed(run.variant), run.run_index, text])

    def runs(self, study_id: str | None = None) -> list[RunResult]:
        """The runs of a study, or of all, in the parts and the order in which they were stored.

        What is damaged is left out.
        """
        query = "SELECT run::text FROM study_runs WHERE coalesce(experiment_id = ?, true) ORDER BY rowid"
        found = []
        for (text,) in self._units.rows(query, [study_id]):
            with suppress(ValidationError):
                found.append(_RUNS.validate_json(text))
        return found

    def all(self, kind: str = "") -> list[Study]:
        """Every study of a kind, or of both, the latest first; what is damaged is left out."""
        return [one for one in self._select("ORDER BY rowid DESC", []) if kind in ("", one.plan.kind)]

    def get(self, study_id: str) -> Study:
        """The study of that id, or of an id that begins like this.

        Raises:
            NotFoundError: There is none, or there are several.
        """
        found = self._select("WHERE starts_with(id::text, ?)", [well_formed(study_id)])
        if len(found) != 1 or not study_id:
            raise NotFoundError(
                f"There is no experiment {study_id!r}." if not found else f"{len(found)} experiments begin so.",
                remedy="See them under Experiments.",
            )
        return found[0]

    def _select(self, rest: str, values: Sequence[object]) -> list[Study]:
        found = []
        for key, scenario, status, config, results, created, completed in self._units.rows(f"{_SELECT} {rest}", values):
            with suppress(ValidationError):
                kind = AB_TEST if scenario == AB_TEST else EXPERIMENT
                plan, result = _PLANS[kind].validate_json(config or ""), _RESULTS.validate_json(results or "{}")
                times = from_microseconds(created), maybe_from_microseconds(completed)
                found.append(Study(key, plan, StudyStatus(status), result, *times))
        return found


_SELECT = """
SELECT id::text, scenario, status, config::text, results::text, epoch_us(created_at), epoch_us(completed_at)
FROM experiments
"""
