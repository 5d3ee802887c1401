"""Write the progress and cost of a job that asks a model, and stop it when somebody asks."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from evaluation.judging.model_client.budget import Budget, progress_words
from evaluation.judging.protocol import Judgement
from evaluation.progress import ProgressCallback, no_progress
from evaluation.store import Store
from evaluation.store.engine.transactions import retry_while_busy

_SECONDS_BETWEEN_WRITES = 0.3


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
