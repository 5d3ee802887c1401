"""Record long-running work as jobs: what was ordered, how far it is, what it cost, and whether it should stop."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from evaluation.judging.model_client.budget import Budget, progress_words
from evaluation.judging.protocol import Judgement
from evaluation.progress import ProgressCallback, no_progress
from evaluation.store import Job, JobState, Store
from evaluation.store.transactions import retry_while_busy

_SECONDS_BETWEEN_WRITES = 0.3
_MOST_JOBS = 1_000


def begin_order(
    store: Store, kind: str, label: str, total: int, order: Mapping[str, Any] | None = None, subject: str = ""
) -> Job:
    """Records a job of this process with what it needs to go on; one job of a kind runs at a time.

    A job about the same subject whose process was killed is closed: this one goes on with its work.

    Args:
        store: Where to.
        kind: What sort of work.
        label: What the job is called on screen.
        total: How many items there are.
        order: JSON values, kept under the job. Never a key.
        subject: Id of what the job is about, such as an experiment; empty for nothing that a job could go on with.

    Raises:
        ConflictError: A job of the kind is running.
    """
    with store.unit(write=True, join=True):
        for earlier in store.jobs.interrupted():
            if subject and _is_about(store, earlier, kind, subject):
                store.jobs.update(earlier.id, state=JobState.CANCELLED, message="Taken up again.")
        job = store.jobs.create(kind, label, total, is_exclusive=True)
        if order is not None:
            store.settings.set(f"order:{job.id}", {**order, "subject": subject})
    return job


def order_of(store: Store, job_id: str) -> dict[str, Any]:
    """The order that ``begin_order`` kept under a job, with its ``subject``; empty for a job without an order."""
    return dict(store.settings.get(f"order:{job_id}", {}))


def running_order(store: Store, kind: str, subject: str) -> Job | None:
    """The job that works on this subject now; ``None`` when no job does, or one on another subject."""
    with store.unit():
        return next((job for job in store.jobs.running() if _is_about(store, job, kind, subject)), None)


def latest_order(store: Store, kind: str, subject: str) -> dict[str, Any]:
    """The order of the latest job about a subject; empty when no job was about it."""
    with store.unit():
        jobs = store.jobs.list(_MOST_JOBS)
        return next((order_of(store, job.id) for job in jobs if _is_about(store, job, kind, subject)), {})


def _is_about(store: Store, job: Job, kind: str, subject: str) -> bool:
    return job.kind == kind and order_of(store, job.id).get("subject") == subject


class JobProgress:
    """Progress callback that records how far a job is, a few times a second, and stops its budget on request.

    It writes from a thread of its own: whoever makes calls must not wait for the disk. As a context manager it writes
    the last figures at the end.

    Args:
        store: Where the job is recorded.
        job_id: Which one.
        budget: Stopped when the job should stop.
        total: How many items there are, where that is known at the beginning; written at once.
        report: Told as well.
    """

    def __init__(
        self, store: Store, job_id: str, budget: Budget, total: int = 0, report: ProgressCallback = no_progress
    ) -> None:
        self.total = total
        self._done = 0
        self._store = store
        self._job_id = job_id
        self._budget = budget
        self._report = report
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="job-progress")
        self._writing: Future[None] | None = None
        self._written_at = -math.inf
        self._started_at = time.monotonic()

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._write()

    def __call__(self, done: int, total: int) -> None:
        self._done, self.total = min(done, total), total
        self._report(done, total)
        is_free = self._writing is None or self._writing.done()
        if is_free and time.monotonic() - self._written_at >= _SECONDS_BETWEEN_WRITES:
            self._written_at = time.monotonic()
            self._writing = self._thread.submit(self._write)

    def count_judgement(self, _position: int, _judgement: Judgement) -> None:
        """Counts one more item as done."""
        self(self._done + 1, self.total)

    def _write(self) -> None:
        if self.total:
            message = progress_words(self._budget, self._done, self.total, time.monotonic() - self._started_at)
            job = retry_while_busy(
                lambda: self._store.jobs.update(self._job_id, done=self._done, total=self.total, message=message)
            )
            if job.is_cancel_requested:
                self._budget.stop()
