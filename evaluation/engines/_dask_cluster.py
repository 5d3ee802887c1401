"""Run tasks on a Dask cluster: a bounded window, killed workers survived, a lost scheduler said clearly."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from evaluation.errors import InfrastructureError

WINDOW_PER_WORKER = 4
"""Tasks given to the scheduler per worker at a time: all at once would keep every input in its memory."""

CONNECT_SECONDS = 30
WORKERS_SECONDS = 60
_LOOK_SECONDS = 5

_AGAIN = "Run the same command again: it goes on where it stopped."

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_on_cluster(
    function: Callable[[Task], Answer],
    tasks: Iterable[Task],
    *,
    split: Callable[[Task], list[Task]],
    jobs: int,
    scheduler: str | None,
    note: Callable[[str], None],
    patience: float = WORKERS_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
) -> Iterator[tuple[Task, Answer | None]]:
    """Run tasks on a Dask cluster, as :func:`~evaluation.engines.task_engines.run_tasks` describes.

    It waits for a scheduler, also for one that it has lost, for ``connect_seconds``, and for the first worker for
    ``patience`` seconds. When all workers leave later, it calls ``note`` once after as many seconds, and waits on.
    """
    _require_dask()
    from distributed import as_completed

    with _connected(scheduler, jobs, connect_seconds, patience) as client:
        run = _Run(client, function, scheduler)
        remaining = iter(tasks)
        running = as_completed()
        suspects: list[Task] = []
        while True:
            room = max(1, run.workers()) * WINDOW_PER_WORKER - len(run.held)
            running.update([run.submit(task) for task in islice(remaining, room)] if room > 0 else [])
            if not run.held:
                break
            run.wait_for_one(running, note, patience)
            future = next(running)
            task = run.held.pop(future.key)
            is_killed, answer = _answer(future, scheduler)
            if not is_killed:
                yield task, answer
            elif len(parts := split(task)) > 1:
                running.update([run.submit(part) for part in parts])
            else:
                suspects.append(task)
        for task in suspects:
            # A worker takes the blame for all tasks that it held when it died. Alone, a task has only itself to blame.
            running.add(run.submit(task))
            run.wait_for_one(running, note, patience)
            yield task, _answer(next(running), scheduler)[1]


class _Run:
    """Tasks under way at one client, by key."""

    def __init__(self, client: Any, function: Callable[[Any], Any], scheduler: str | None) -> None:
        self._client = client
        self._function = function
        self._scheduler = scheduler
        self._has_noted = False
        self.held: dict[str, Any] = {}

    def workers(self) -> int:
        with _loss_named(self._scheduler):
            return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def submit(self, task: Any) -> Any:
        # A key of its own: another client's task of the same name may write somewhere else.
        key = f"dramaturg-{uuid.uuid4().hex}"
        self.held[key] = task
        with _loss_named(self._scheduler):
            return self._client.submit(self._function, task, key=key, pure=False)

    def wait_for_one(self, running: Any, note: Callable[[str], None], patience: float) -> None:
        """Waits until one of the tasks has ended; says it, once in a run, when nobody is there to do them."""
        seen = looked = time.monotonic()
        while not running.has_ready():
            with running.thread_condition:
                running.thread_condition.wait(timeout=0.1)
            now = time.monotonic()
            if self._has_noted or now - looked < min(_LOOK_SECONDS, patience):
                continue
            looked = now
            if self.workers():
                seen = now
            elif now - seen >= patience:
                self._has_noted = True
                note(f"The scheduler has had no worker for {now - seen:.0f} s. The run goes on when one is there.")


def _answer(future: Any, scheduler: str | None) -> tuple[bool, Any]:
    """Whether the task killed its workers, else its answer. Lets go of the future, so that the cluster forgets it."""
    from distributed import KilledWorker

    try:
        if future.status == "error":
            # What the task itself raised, or that it killed its workers: the scheduler is there and says so.
            return False, future.result()
        with _loss_named(scheduler):
            return False, future.result()
    except KilledWorker:
        return True, None
    finally:
        future.release()


@contextmanager
def _loss_named(scheduler: str | None) -> Iterator[None]:
    """Around everything that asks the scheduler: what Dask raises when it is gone becomes one error."""
    from distributed.client import ClosedClientError, FutureCancelledError

    try:
        yield
    except (ClosedClientError, FutureCancelledError, OSError):
        raise InfrastructureError(
            "The connection to the scheduler was lost.", place=scheduler or "the local cluster", remedy=_AGAIN
        ) from None


@contextmanager
def _connected(scheduler: str | None, jobs: int, connect_seconds: float, patience: float) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    if scheduler is None:
        options = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
        try:
            started = LocalCluster(processes=True, **options)
        except RuntimeError as error:
            raise InfrastructureError(
                f"The workers did not start: {error}", place="the local cluster", remedy=_AGAIN
            ) from None
        with started as cluster, Client(cluster) as client:
            yield client
        return
    try:
        with _quiet():
            client = Client(scheduler, timeout=connect_seconds)
    except (OSError, TimeoutError, ValueError) as error:
        raise InfrastructureError(
            f"No scheduler answers there: {error}.",
            place=scheduler,
            remedy="Start one (dask scheduler), and name its address as tcp://HOST:PORT.",
        ) from None
    with _quiet(), client:
        with _loss_named(scheduler):
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise InfrastructureError(
                    f"The scheduler has had no worker for {patience:g} s.",
                    place=scheduler,
                    remedy=f"Start one: dask worker {scheduler} --nthreads 1.",
                ) from None
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the loggers that would print tracebacks of their own before the one error of a lost scheduler."""
    loggers = [
        logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application", "asyncio")
    ]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def _require_dask() -> None:
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        raise InfrastructureError(
            "The engine 'dask' needs Dask, which is not installed.", remedy="Install it: pip install 'dramaturg[dask]'."
        )
