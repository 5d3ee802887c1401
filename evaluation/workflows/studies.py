"""Run experiments and A/B tests as background jobs, and go on with those that stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.errors import DramaturgError
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.ab_sources import check_test
from evaluation.experiments.study import Study, StudyPlan
from evaluation.experiments.tables import runs_by_status
from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.model_client.calls import Provider
from evaluation.progress import ProgressCallback, no_progress
from evaluation.store import Job, JobState, Store
from evaluation.workflows.ab_tests import ab_judge_config, planned_runs, run_ab_test
from evaluation.workflows.experiment_runs import connection, run_experiment
from evaluation.workflows.jobs import JobProgress, begin_order, latest_order, order_of


def begin_study(store: Store, plan: StudyPlan, options: Mapping[str, Any]) -> Job:
    """Records a study and the job of this process that runs it; one job of its kind runs at a time.

    A job of the same study whose process was killed is closed: this one goes on with it.

    Args:
        store: Where to.
        plan: What will be run.
        options: Kept, so that a page can go on with it: limits, concurrency, address. Never a key.

    Raises:
        ConflictError: Another study of the kind is running.
        InputError: The design is impossible, or the test can give no result.
    """
    if isinstance(plan, ABConfig):
        check_test(plan)
        label, total = "A/B test", planned_runs(store, plan)
    else:
        scripted = ", scripted" if plan.is_scripted else ""
        label = f"Experiment {plan.scenario.id}, seed {plan.seed}, scale {plan.scale:g}{scripted}"
        total = len(plan.rooms)
    with store.unit(write=True):
        job = begin_order(store, plan.kind, label, total, {"options": dict(options)}, plan.id)
        store.experiments.begin(plan)
    return job


def run_study(
    store: Store, job_id: str, report: ProgressCallback = no_progress, *, provider: Provider | None = None
) -> str:
    """Runs, or goes on with, the study of a job; returns what came of it and what it cost.

    Args:
        store: Where the job is recorded.
        job_id: Which one.
        report: Told of progress, as the job is.
        provider: Takes the place of litellm in an experiment, in tests.

    Raises:
        NotFoundError: The study is gone.
        InputError: There is no model now.
        DramaturgError: As ``run_experiment`` and ``run_ab_test``.
    """
    order = order_of(store, job_id)
    plan, options = store.experiments.get(order.get("subject", "")).plan, order["options"]
    if isinstance(plan, ABConfig):
        config = ab_judge_config(store, plan, options)
    else:
        config, script = connection(plan, options, store.settings.get(SETTINGS_KEY))
        provider = provider or script
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    with JobProgress(store, job_id, budget, store.jobs.get(job_id).total, report) as progress:
        if isinstance(plan, ABConfig):
            result = run_ab_test(store, plan, options, progress, budget=budget)
            return f"Runs: {runs_by_status(result.runs)}. {spent_words(budget)}."
        result = run_experiment(store, plan, config, budget=budget, provider=provider, report=progress).result
    stopped = f" Stopped before its end ({result.stopped}); start it again to go on." if result.stopped else ""
    return f"{spent_words(budget)}.{stopped}"


def run_as_job(
    store: Store,
    plan: StudyPlan,
    options: Mapping[str, Any],
    report: ProgressCallback = no_progress,
    *,
    provider: Provider | None = None,
) -> Study:
    """Runs a study, recorded as a job of this process.

    Raises:
        ConflictError: Another one of its kind is running.
        DramaturgError: As ``run_study``.
    """
    job = begin_study(store, plan, options)
    state, message = JobState.FAILED, "It was broken off."
    try:
        message = run_study(store, job.id, report, provider=provider)
        study = store.experiments.get(plan.id)
        state = JobState.CANCELLED if study.result.stopped else JobState.DONE
    except DramaturgError as error:
        message = str(error)
        raise
    finally:
        store.jobs.update(job.id, state=state, message=message)
    return study


def latest_options(store: Store, plan: StudyPlan) -> dict[str, Any]:
    """The options of the latest job of a study, to go on with them; empty for one without a job."""
    order = latest_order(store, plan.kind, plan.id)
    return {} if order is None else dict(order["options"])
