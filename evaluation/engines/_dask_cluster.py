"""Run tasks on a Dask cluster: a bounded window, killed workers survived, a lost scheduler said clearly."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypeVar

from evaluation.errors import InfrastructureError

WINDOW_PER_WORKER = 4
"""Tasks given to the scheduler per worker at a time: all at once would keep every input in its memory."""

CONNECT_SECONDS = 30
WORKERS_SECONDS = 60

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
    patience: float = WORKERS_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
) -> Iterator[tuple[Task, Answer | None]]:
    """Run tasks on a Dask cluster, as :func:`~evaluation.engines.task_engines.run_tasks` describes.

    It waits for a scheduler, also for one that it has lost, for ``connect_seconds``, and for the first worker for
    ``patience`` seconds. When all workers leave later, it waits for others.
    """
    if find_spec("distributed") is None:
        raise InfrastructureError(
            "The engine 'dask' needs Dask, which is not installed.", remedy="Install it: pip install 'dramaturg[dask]'."
        )
    from distributed import as_completed

    held: dict[str, Task] = {}
    suspects: list[Task] = []
    remaining = iter(tasks)
    with _connected(scheduler, jobs, connect_seconds, patience) as client:
        running = as_completed()

        def submit(some: list[Task]) -> None:
            with _loss_named(scheduler):
                for task in some:
                    future = client.submit(function, task, pure=False)
                    held[future.key] = task
                    running.add(future)

        while True:
            with _loss_named(scheduler):
                workers = len(client.scheduler_info(n_workers=-1)["workers"])
            submit(list(islice(remaining, max(0, max(1, workers) * WINDOW_PER_WORKER - len(held)))))
            if not held:
                break
            future = next(running)
            task = held.pop(future.key)
            is_killed, answer = _answer(future, scheduler)
            if not is_killed:
                yield task, answer
            elif len(parts := split(task)) > 1:
                submit(parts)
            else:
                suspects.append(task)
        for task in suspects:
            # A worker takes the blame for all tasks that it held when it died. Alone, a task has only itself to blame.
            submit([task])
            yield task, _answer(next(running), scheduler)[1]


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
                    remedy=f"Start one: dask worker {shlex.quote(scheduler)} --nthreads 1.",
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
