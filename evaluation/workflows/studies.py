"""Run experiments and A/B tests as background jobs, and go on with those that stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import count
from typing import Any

from evaluation.errors import DramaturgError
from evaluation.experiments.ab_results import runs_by_status
from evaluation.experiments.ab_runner import ABConfig, ab_test_of
from evaluation.experiments.ab_sources import check_test
from evaluation.experiments.plan import AB_TEST, ExperimentPlan, ExperimentRecord, plan_of
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.model_client.calls import Provider
from evaluation.progress import ProgressCallback, no_progress
from evaluation.store import Job, JobState, Store
from evaluation.workflows.ab_tests import ab_judge_config, planned_runs, run_ab_test
from evaluation.workflows.experiment_runs import connection, run_experiment
from evaluation.workflows.jobs import JobProgress, begin_order, latest_order, order_of


def begin_study(store: Store, record: ExperimentRecord, options: Mapping[str, Any]) -> Job:
    """Records a study and the job of this process that runs it; one job of its kind runs at a time.

    A job of the same study whose process was killed is closed: this one goes on with it.

    Args:
        store: Where to.
        record: What will be run: the ``record`` of an ``ExperimentPlan`` or an ``ABConfig``.
        options: Kept, so that a page can go on with it: limits, concurrency, address. Never a key.

    Raises:
        ConflictError: Another study of the kind is running.
        InputError: The design is impossible, or the test can give no result.
    """
    if record.kind == AB_TEST:
        test = ab_test_of(record)
        check_test(test)
        label, total = "A/B test", planned_runs(store, test)
    else:
        plan = plan_of(record)
        scripted = ", scripted" if record.is_scripted else ""
        label = f"Experiment {record.scenario}, seed {record.seed}, scale {record.scale:g}{scripted}"
        total = len(plan.rooms)
    with store.unit(write=True):
        job = begin_order(store, record.kind, label, total, {"options": dict(options)}, record.id)
        store.experiments.begin(record)
    return job


def run_study(store: Store, job_id: str, _report: ProgressCallback = no_progress) -> str:
    """Runs, or goes on with, the study of a job; returns what came of it and what it cost.

    Raises:
        NotFoundError: The study is gone.
        InputError: There is no model now.
        DramaturgError: As ``run_experiment`` and ``run_ab_test``.
    """
    order = order_of(store, job_id)
    record, options = store.experiments.get(order.get("subject", "")), order["options"]
    if record.kind == AB_TEST:
        return _run_ab_test(store, job_id, ab_test_of(record), options)
    plan = plan_of(record)
    config, provider = connection(plan, options, store.settings.get(SETTINGS_KEY))
    return _run_experiment(store, job_id, plan, config, provider)


def _run_ab_test(store: Store, job_id: str, test: ABConfig, options: Mapping[str, Any]) -> str:
    config = ab_judge_config(store, test, options)
    budget, done = Budget(usd=config.max_usd, calls=config.max_calls), count(1)
    with JobProgress(store, job_id, budget, store.jobs.get(job_id).total) as progress:
        result = run_ab_test(store, test, options, lambda _: progress(next(done), progress.total), budget=budget)
    runs = runs_by_status(asdict(run) for one in result.variants.values() for run in one.runs)
    return f"Runs: {runs}. {spent_words(budget)}."


def _run_experiment(
    store: Store,
    job_id: str,
    plan: ExperimentPlan,
    config: JudgeConfig,
    provider: Provider | None,
    report: ProgressCallback = no_progress,
) -> str:
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    with JobProgress(store, job_id, budget, report=report) as progress:
        record = run_experiment(store, plan, config, budget=budget, provider=provider, report=progress)
    stopped = f" Stopped before its end ({record.stopped}); start it again to go on." if record.stopped else ""
    return f"{spent_words(budget)}.{stopped}"


def run_as_job(
    store: Store,
    plan: ExperimentPlan,
    config: JudgeConfig,
    *,
    options: Mapping[str, Any] | None = None,
    provider: Provider | None = None,
    report: ProgressCallback = no_progress,
) -> ExperimentRecord:
    """Runs an experiment, recorded as a job of this process.

    Raises:
        ConflictError: Another experiment is running.
        DramaturgError: As ``run_experiment``.
    """
    job = begin_study(store, plan.record, options or {})
    state, message = JobState.FAILED, "It was broken off."
    try:
        message = _run_experiment(store, job.id, plan, config, provider, report)
        record = store.experiments.get(plan.record.id)
        state = JobState.CANCELLED if record.stopped else JobState.DONE
    except DramaturgError as error:
        message = str(error)
        raise
    finally:
        store.jobs.update(job.id, state=state, message=message)
    return record


def latest_options(store: Store, record: ExperimentRecord) -> dict[str, Any] | None:
    """The options of the latest job of a study, to go on with them; ``None`` for one without a job."""
    order = latest_order(store, record.kind, record.id)
    return None if order is None else dict(order["options"])
