"""Run an experiment as a job that every page can show and stop, and that continues after a killed process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.errors import DramaturgError, InputError
from evaluation.experiments.plan import ExperimentPlan, plan_of
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.model_client.calls import Provider
from evaluation.progress import ProgressCallback, no_progress
from evaluation.simulation.scripted_world import ScriptedProvider, ScriptedWorld
from evaluation.store import Job, JobState, Store
from evaluation.workflows.experiments.runs import ExperimentOutcome, run_experiment
from evaluation.workflows.job_progress import JobProgress

KIND = "experiment"
_ORDER = "experiment_job"
_MOST_JOBS = 1_000


def connection(
    plan: ExperimentPlan, options: Mapping[str, Any], stored: Mapping[str, Any] | None, *, is_estimate: bool = False
) -> tuple[JudgeConfig, Provider | None]:
    """The configuration that leads to whoever speaks and judges, and for a scripted plan its script.

    Args:
        plan: Says whether it is scripted.
        options: Limits, concurrency, and of a real model the address.
        stored: The judge's settings.
        is_estimate: Whether nobody is going to be asked, so that no key is needed.

    Raises:
        InputError: There is no model.
    """
    if plan.effects is not None:
        limits = {name: options.get(name) for name in ("max_usd", "max_calls", "concurrency")}
        config = judge_config(limits | {"mode": "live", "model": plan.model}, environment={})
        return config, ScriptedProvider(ScriptedWorld(plan.effects))
    config = judge_config({**options, "model": plan.model}, stored)
    if config.mode != "live" and not is_estimate:
        raise InputError(
            "There is no key and no address of a model, so nobody can speak.",
            remedy="Set OPENAI_API_KEY, give the address of a server (OPENAI_BASE_URL), or try it scripted.",
        )
    return config, None


def begin_job(store: Store, plan: ExperimentPlan, options: Mapping[str, Any]) -> Job:
    """Records an experiment and the job of this process that runs it; one job of the kind runs at a time.

    A job of the same name whose process was killed is closed: this one goes on with its experiment.

    Args:
        store: Where to.
        plan: What will be run.
        options: Kept, so that a page can go on with it: limits, concurrency, address. Never a key.

    Raises:
        ConflictError: Another experiment is running.
        InputError: The design is impossible.
    """
    label, design = label_of(plan), plan.design
    with store.unit(write=True):
        for earlier in store.jobs.interrupted():
            if earlier.kind == KIND and earlier.label == label:
                store.jobs.update(earlier.id, state=JobState.CANCELLED, message="Taken up again.")
        job = store.jobs.create(KIND, label, len(design.rooms), is_exclusive=True)
        store.experiments.begin(plan.record)
        store.settings.set(f"{_ORDER}:{job.id}", {"experiment": plan.record.id, "options": dict(options)})
    return job


def run_as_job(
    store: Store,
    plan: ExperimentPlan,
    config: JudgeConfig,
    *,
    options: Mapping[str, Any] | None = None,
    provider: Provider | None = None,
    report: ProgressCallback = no_progress,
) -> ExperimentOutcome:
    """Runs an experiment, recorded as a job of this process.

    Raises:
        ConflictError: Another experiment is running.
        DramaturgError: As ``run_experiment``.
    """
    job = begin_job(store, plan, options or {})
    state, message = JobState.FAILED, "It was broken off."
    try:
        outcome, message = carry_out(store, job.id, plan, config, provider=provider, report=report)
        state = JobState.CANCELLED if outcome.stopped else JobState.DONE
    except DramaturgError as error:
        message = str(error)
        raise
    finally:
        store.jobs.update(job.id, state=state, message=message)
    return outcome


def carry_out(
    store: Store,
    job_id: str,
    plan: ExperimentPlan,
    config: JudgeConfig,
    *,
    provider: Provider | None = None,
    report: ProgressCallback = no_progress,
) -> tuple[ExperimentOutcome, str]:
    """Runs an experiment under a job that exists; what came of it, and in words what it cost."""
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    with JobProgress(store, job_id, budget, report=report) as progress:
        outcome = run_experiment(store, plan, config, budget=budget, provider=provider, report=progress)
    stopped = f" Stopped before its end ({outcome.stopped}); start it again to go on." if outcome.stopped else ""
    return outcome, f"{spent_words(budget)}.{stopped}"


def run_ordered(store: Store, job_id: str, _report: ProgressCallback) -> str:
    """Runs, or goes on with, the experiment of a job; returns what it cost.

    Raises:
        NotFoundError: The experiment is gone.
        InputError: There is no model now.
        DramaturgError: As ``run_experiment``.
    """
    order = store.settings.get(f"{_ORDER}:{job_id}", {"experiment": "", "options": {}})
    plan = plan_of(store.experiments.get(order["experiment"]))
    config, provider = connection(plan, order["options"], store.settings.get(SETTINGS_KEY))
    return carry_out(store, job_id, plan, config, provider=provider)[1]


def running_job(store: Store, experiment: str) -> Job | None:
    """The job that runs this experiment now; ``None`` when no job does, or one of another experiment."""
    with store.unit():
        return next((job for job in store.jobs.running() if _ordered(store, job).get("experiment") == experiment), None)


def latest_options(store: Store, experiment: str) -> dict[str, Any]:
    """Limits, concurrency and address of the latest job of an experiment, to go on with them; empty without one."""
    with store.unit():
        for job in store.jobs.list(_MOST_JOBS):
            order = _ordered(store, job)
            if order.get("experiment") == experiment:
                return dict(order["options"])
    return {}


def _ordered(store: Store, job: Job) -> Mapping[str, Any]:
    """The experiment that a job runs; empty for jobs of another kind."""
    found: Mapping[str, Any] = store.settings.get(f"{_ORDER}:{job.id}", {}) if job.kind == KIND else {}
    return found


def label_of(plan: ExperimentPlan) -> str:
    """The display name of the job."""
    scripted = ", scripted" if plan.effects is not None else ""
    return f"Experiment {plan.scenario.id}, seed {plan.seed}, scale {plan.scale:g}{scripted}"
