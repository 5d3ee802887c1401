"""An experiment as a job: seen and stopped from every page, whoever began it, and taken up again after a kill."""

from __future__ import annotations

import time
from collections.abc import Callable

from evaluation.errors import DramaturgError
from evaluation.experimenting import ExperimentOutcome, run_experiment
from evaluation.experiments.plan import ExperimentPlan
from evaluation.judging.budget import Budget
from evaluation.judging.calls import Provider
from evaluation.judging.config import JudgeConfig
from evaluation.store import JobState, Store

KIND = "experiment"
_SECONDS_BETWEEN_REPORTS = 0.5

Report = Callable[[int, int], None]


class JobWatch:
    """Writes how far an experiment is, twice a second, and stops it when somebody asks.

    Args:
        store: Where the job is recorded.
        job_id: Which one.
        budget: Stopped when the job shall stop.
        report: Told as well.
    """

    def __init__(self, store: Store, job_id: str, budget: Budget, report: Report | None = None) -> None:
        self._store = store
        self._job_id = job_id
        self._budget = budget
        self._report = report
        self._written_at = 0.0

    def __call__(self, done: int, total: int) -> None:
        if self._report:
            self._report(done, total)
        now = time.monotonic()
        if now - self._written_at >= _SECONDS_BETWEEN_REPORTS or done == total:
            self._written_at = now
            job = self._store.jobs.update(self._job_id, done=done, total=total, message=self.spent)
            if job.is_cancel_requested:
                self._budget.stop()

    @property
    def spent(self) -> str:
        """What it cost so far: "12 calls, $0.0031"."""
        return f"{self._budget.calls_made:,} calls, ${self._budget.spent_usd:.4f}"


def run_as_job(
    store: Store,
    plan: ExperimentPlan,
    config: JudgeConfig,
    *,
    provider: Provider | None = None,
    report: Report | None = None,
) -> ExperimentOutcome:
    """Runs an experiment, recorded as a job of this process; one job of the kind runs at a time.

    A job of the same name whose process was killed is closed: this one goes on with its experiment.

    Raises:
        ConflictError: Another experiment is running.
        DramaturgError: As ``run_experiment``.
    """
    label = label_of(plan)
    with store.unit(write=True):
        for earlier in store.jobs.interrupted():
            if earlier.kind == KIND and earlier.label == label:
                store.jobs.update(earlier.id, state=JobState.CANCELLED, message="Taken up again.")
        job = store.jobs.create(KIND, label, 0, is_exclusive=True)
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    watch = JobWatch(store, job.id, budget, report)
    state, message = JobState.FAILED, "It was broken off."
    try:
        outcome = run_experiment(store, plan, config, budget=budget, provider=provider, report=watch)
        state = JobState.CANCELLED if outcome.stopped else JobState.DONE
        message = f"{watch.spent}. {f'Stopped: {outcome.stopped}.' if outcome.stopped else ''}".strip()
    except DramaturgError as error:
        message = str(error)
        raise
    finally:
        store.jobs.update(job.id, state=state, message=message)
    return outcome


def label_of(plan: ExperimentPlan) -> str:
    """What the job is called."""
    scripted = ", scripted" if plan.effects is not None else ""
    return f"Experiment {plan.scenario.id}, seed {plan.seed}, scale {plan.scale:g}{scripted}"
