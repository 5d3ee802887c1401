"""Run an A/B test as a job that every page can show and stop, and that continues after a killed process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.experiments.ab.config import ABConfig
from evaluation.experiments.ab.preconditions import check_test
from evaluation.experiments.ab.results import ABTestResult, FinishedRuns, RunResult, parsed_run, run_line
from evaluation.experiments.ab.summary import runs_by_status
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.store import Job, JobState, Store
from evaluation.store.agents.experiments import ab_test_id
from evaluation.workflows.experiments.ab_tests import ab_judge_config, planned_runs, run_ab_test
from evaluation.workflows.job_progress import JobProgress

KIND = "ab_test"
_ORDER = "ab_test_job"
_MOST_JOBS = 1_000


class StoredRuns(FinishedRuns):
    """The finished runs of an A/B test in the store."""

    def __init__(self, store: Store, test_id: str) -> None:
        parsed = [parsed_run(line) for line in store.experiments.ab_runs(test_id)]
        super().__init__(known=dict(filter(None, parsed)))
        self._store = store
        self._test_id = test_id

    @classmethod
    def of(cls, store: Store, test: ABConfig) -> StoredRuns:
        """The finished runs of a test; none before it was begun."""
        return cls(store, ab_test_id(test.model_dump(mode="json")))

    def keep(self, key: str, run: RunResult) -> None:
        """Stores a run; it is safe when this returns."""
        super().keep(key, run)
        self._store.experiments.add_ab_run(self._test_id, run_line(key, run))


def begin_ab_job(store: Store, test: ABConfig, options: Mapping[str, Any]) -> tuple[Job, str]:
    """Records an A/B test and the job of this process that runs it; one job of the kind runs at a time.

    A job of the same test whose process was killed is closed: this one goes on with its runs.

    Args:
        store: Where to.
        test: What will be compared.
        options: As for ``run_ab_test``; kept, so that a page can go on with it. Never a key.

    Returns:
        The job, and the id of the test.

    Raises:
        ConflictError: Another A/B test is running.
        InputError: The test can give no result.
    """
    check_test(test)
    total = planned_runs(store, test)
    with store.unit(write=True):
        test_id = store.experiments.begin_ab_test(test.model_dump(mode="json"))
        for earlier in store.jobs.interrupted():
            if _ordered(store, earlier).get("id") == test_id:
                store.jobs.update(earlier.id, state=JobState.CANCELLED, message="Taken up again.")
        job = store.jobs.create(KIND, "A/B test", total, is_exclusive=True)
        # Only what the file says: which measures it chose decides what is checked before the runs.
        order = {"id": test_id, "test": test.model_dump(mode="json", exclude_unset=True), "options": dict(options)}
        store.settings.set(f"{_ORDER}:{job.id}", order)
    return job, test_id


def run_ordered_ab(store: Store, job_id: str) -> str:
    """Runs, or goes on with, the A/B test of a job; returns what came of it and what it cost.

    Raises:
        InputError: As ``run_ab_test``.
    """
    order = store.settings.get(f"{_ORDER}:{job_id}", {})
    test, options = ABConfig.model_validate(order["test"]), order["options"]
    config = ab_judge_config(store, test, options)
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    done = 0
    with JobProgress(store, job_id, budget, planned_runs(store, test)) as progress:

        def count(_run: RunResult) -> None:
            nonlocal done
            done += 1
            progress(done, progress.total)

        result = run_ab_test(store, test, StoredRuns(store, order["id"]), options, count, budget=budget)
    return f"{outcome_words(result)} {spent_words(budget)}."


def outcome_words(result: ABTestResult) -> str:
    """The runs of a test by status in a sentence: "Runs: 2 done, 6 skipped: budget."."""
    return f"Runs: {runs_by_status(run.as_dict() for one in result.variants.values() for run in one.runs)}."


def running_ab_job(store: Store, test_id: str) -> Job | None:
    """The job that runs this A/B test now; ``None`` when none does."""
    with store.unit():
        return next((job for job in store.jobs.running() if _ordered(store, job).get("id") == test_id), None)


def latest_order(store: Store, test_id: str) -> tuple[ABConfig, dict[str, Any]] | None:
    """Configuration and options of the latest job of an A/B test, to go on with it; ``None`` without one."""
    with store.unit():
        for job in store.jobs.list(_MOST_JOBS):
            order = _ordered(store, job)
            if order.get("id") == test_id:
                return ABConfig.model_validate(order["test"]), dict(order["options"])
    return None


def _ordered(store: Store, job: Job) -> Mapping[str, Any]:
    """The order of a job; empty for jobs of another kind."""
    found: Mapping[str, Any] = store.settings.get(f"{_ORDER}:{job.id}", {}) if job.kind == KIND else {}
    return found
