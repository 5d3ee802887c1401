"""Long-running jobs (kind, progress, owner, requests to stop), and whether the process that owns one still runs."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from evaluation.errors import ConflictError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.store._bulk_rows import from_microseconds, maybe_from_microseconds
from evaluation.store.transactions import UnitsPart

# A container that is started again has another name, and nobody can ask the old one any more.
SILENCE_OF_OTHER_HOSTS = timedelta(minutes=15)


def this_process() -> str:
    """Names this process so that no later one is mistaken for it: host, number and time of its start."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def may_run(owner: str, heartbeat: datetime) -> bool:
    """False when ``owner`` has ended: a process of this host that is gone, or whose number was reused.

    One of another host has ended when it has not reported for a quarter of an hour. An owner that names no process
    has ended.
    """
    host, _, process = owner.rpartition(":")[0].rpartition(":")
    started = owner.rpartition(":")[2]
    if host != socket.gethostname():
        return bool(host) and not is_silent(heartbeat)
    return process.isdecimal() and bool(started or not _HAS_START_TIMES) and _started(process) == started


def is_silent(heartbeat: datetime) -> bool:
    """Whether nothing was heard for a quarter of an hour; a time that lies as far in the future tells nothing."""
    return abs(datetime.now(UTC) - heartbeat) >= SILENCE_OF_OTHER_HOSTS


_HAS_START_TIMES = Path("/proc/self/stat").exists()


def _started(pid: int | str) -> str:
    """The clock tick at which the process started; empty when there is none of that number."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    # The program's name, in brackets, may hold blanks and brackets; the start time is the 20th field after it.
    return status.rpartition(b")")[2].split()[19].decode("ascii")


class JobState(StrEnum):
    """``interrupted``: its process ended before the job did. What was done until then is stored."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Job:
    """One long-running job as it stands.

    Attributes:
        kind: What sort of work it is ("evaluate"); at most one exclusive job of a kind runs at a time.
        label: What a person calls it.
        total: How many items there are, ``done`` of them finished.
        message: The latest remark or the reason why it failed.
        owner: The process that runs it.
        is_cancel_requested: Whether the one who runs it should stop after the current item.
        heartbeat: When it last reported.
        resumed_at: When it last went on after an interruption; ``None`` when it never did.
        resumed_done: How many items were finished then.
        finished_at: When it ended; ``None`` while it runs, and for an interrupted one.
    """

    id: str
    kind: str
    label: str
    total: int
    done: int
    state: JobState
    message: str
    owner: str
    is_cancel_requested: bool
    created_at: datetime
    heartbeat: datetime
    finished_at: datetime | None
    resumed_at: datetime | None
    resumed_done: int | None


_Jobs = list[Job]


class Jobs(UnitsPart):
    """Records jobs, so that every process and page sees the same."""

    def create(self, kind: str, label: str, total: int, *, is_exclusive: bool = False) -> Job:
        """Records a job that this process begins now.

        Raises:
            ConflictError: ``is_exclusive``, and a job of the kind is running.
        """
        job_id = uuid.uuid4().hex
        with self._units.unit(write=True, join=True) as cursor:
            if is_exclusive and (running := [job for job in self.running() if job.kind == kind]):
                raise ConflictError(f"{running[0].label} is running already.", remedy="Wait for it, or cancel it.")
            cursor.execute(
                "INSERT INTO jobs (job_id, kind, label, total, owner) VALUES (?, ?, ?, ?, ?)",
                [job_id, kind, well_formed(label), total, this_process()],
            )
            return self.get(job_id)

    def update(
        self,
        job_id: str,
        *,
        done: int | None = None,
        total: int | None = None,
        state: JobState | None = None,
        message: str | None = None,
    ) -> Job:
        """Reports progress or the end of a job, and returns it: look there whether it should stop.

        Raises:
            NotFoundError: There is no such job.
        """
        remark = None if message is None else well_formed(message)
        values = {"job": job_id, "done": done, "total": total, "state": state, "message": remark}
        with self._units.unit(write=True, join=True) as cursor:
            cursor.execute(_UPDATE, values)
            return self.get(job_id)

    def cancel(self, job_id: str) -> None:
        """Asks the one who runs the job to stop; one that has ended is left as it is.

        One that has been silent for a quarter of an hour is cancelled at once: nobody may hear the request.
        """
        self._units.write(_CANCEL, [SILENCE_OF_OTHER_HOSTS, job_id])

    def take_over(self, job_id: str) -> Job:
        """Lets this process go on with a job that has stopped before its end.

        Raises:
            NotFoundError: There is no such job.
            ConflictError: It runs, or there is nothing to go on with; or another of its kind runs.
        """
        with self._units.unit(write=True, join=True) as cursor:
            job = self.get(job_id)
            if job.state not in (JobState.INTERRUPTED, JobState.FAILED):
                raise ConflictError(f"{job.label} is {job.state}.", remedy="See how far it is before you start it.")
            if any(other.kind == job.kind for other in self.running()):
                raise ConflictError(f"{job.label} is running already.", remedy="Wait for it, or cancel it.")
            cursor.execute(_TAKE_OVER, {"job": job_id, "owner": this_process()})
            return self.get(job_id)

    def interrupted(self) -> _Jobs:
        """The jobs whose process ended before they did, oldest first, until somebody goes on with them or ends them."""
        recorded = self._select("WHERE state = 'running' ORDER BY position", [])
        return [job for job in recorded if job.state is JobState.INTERRUPTED]

    def get(self, job_id: str) -> Job:
        """The job with that id.

        Raises:
            NotFoundError: There is none.
        """
        found = self._select("WHERE job_id = ?", [job_id])
        if not found:
            raise NotFoundError(f"There is no job {job_id!r}.")
        return found[0]

    def list(self, limit: int = 50) -> _Jobs:
        """The latest jobs, newest first."""
        return self._select("ORDER BY position DESC LIMIT ?", [limit])

    def running(self) -> _Jobs:
        """The jobs that run now, oldest first."""
        recorded = self._select("WHERE state = 'running' ORDER BY position", [])
        return [job for job in recorded if job.state is JobState.RUNNING]

    def _select(self, rest: str, values: Sequence[object]) -> _Jobs:
        return [_job(row) for row in self._units.rows(f"SELECT {_COLUMNS} FROM jobs {rest}", values)]


_COLUMNS = """
job_id, kind, label, total, done, state, message, owner, is_cancel_requested,
epoch_us(created_at), epoch_us(heartbeat), epoch_us(finished_at), epoch_us(resumed_at), resumed_done
"""

_TAKE_OVER = """
UPDATE jobs SET
    state = 'running', owner = $owner, is_cancel_requested = false, message = '', finished_at = NULL,
    heartbeat = now(), resumed_at = now(), resumed_done = done
WHERE job_id = $job
"""

_CANCEL = """
UPDATE jobs SET
    is_cancel_requested = true,
    state = CASE WHEN is_silent THEN 'cancelled' ELSE state END,
    finished_at = CASE WHEN is_silent THEN now() ELSE finished_at END
FROM (SELECT job_id AS id, NOT heartbeat BETWEEN now() - $1 AND now() + $1 AS is_silent FROM jobs) AS heard
WHERE job_id = $2 AND id = job_id AND state = 'running'
"""

_UPDATE = """
UPDATE jobs SET
    done = coalesce($done, done),
    total = coalesce($total, total),
    state = coalesce($state, state),
    message = coalesce($message, message),
    heartbeat = now(),
    -- Work that counts from the beginning again after an interruption.
    resumed_done = CASE WHEN $done < resumed_done THEN $done ELSE resumed_done END,
    finished_at = CASE WHEN coalesce($state, state) = 'running' THEN NULL ELSE coalesce(finished_at, now()) END
WHERE job_id = $job
"""


def _job(row: tuple[Any, ...]) -> Job:
    created_at, heartbeat, finished_at, resumed_at, resumed_done = row[-5:]
    times = (from_microseconds(created_at), from_microseconds(heartbeat), maybe_from_microseconds(finished_at))
    job = Job(*(*row[:-5], *times, maybe_from_microseconds(resumed_at), resumed_done))
    state = JobState(job.state)
    has_ended = state is JobState.RUNNING and not may_run(job.owner, job.heartbeat)
    return replace(job, state=JobState.INTERRUPTED if has_ended else state)
