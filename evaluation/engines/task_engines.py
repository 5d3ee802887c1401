"""Run tasks in this process, in a pool of processes or on a Dask cluster."""

from __future__ import annotations

import gc
import logging
import os
import shlex
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from evaluation.errors import InfrastructureError

if TYPE_CHECKING:
    from concurrent.futures import Future

_TASKS_IN_FLIGHT_PER_PROCESS = 2
_OBJECTS_BETWEEN_COLLECTIONS = 50_000

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def map_tasks(function: Callable[[Task], Answer], tasks: Iterable[Task], *, jobs: int) -> Iterator[tuple[Task, Answer]]:
    """Each task with its answer, in the order of ``tasks``, which is read only as far ahead as the processes need.

    Args:
        function: For more than one process a module-level function, or a partial of one.
        tasks: May be endless.
        jobs: How many processes; 1 computes in this one.

    Raises:
        InfrastructureError: A process ended before it had answered. What ``function`` raises is raised here.
    """
    if jobs == 1:
        yield from ((task, function(task)) for task in tasks)
        return
    # The command line loads this module for its help, which needs no processes.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # A forked process would inherit locks that other threads hold (Streamlit's, DuckDB's); a spawned one starts clean.
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"), initializer=_settle_in)
    waiting: deque[tuple[Task, Future[Answer]]] = deque()
    try:
        for task in tasks:
            waiting.append((task, pool.submit(function, task)))
            if len(waiting) >= jobs * _TASKS_IN_FLIGHT_PER_PROCESS:
                first, future = waiting.popleft()
                yield first, future.result()
        for rest, future in waiting:
            yield rest, future.result()
    except BrokenProcessPool:
        raise InfrastructureError(
            "A process that computed metrics ended before it had answered.",
            remedy="The memory may have run out: try again with fewer jobs.",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def collect_rarely() -> None:
    """Lets a program's garbage collector look for cycles seldom, for as long as the process lives.

    Scoring and reading games build words, rows and evidence by the thousand, and none of them form cycles. Looking
    through all of them every 700 objects takes a tenth of the time.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def _settle_in() -> None:
    """Begins a process of the pool: it leaves Ctrl+C to its parent, and does not outlive it, however that one ends."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


WINDOW_PER_WORKER = 4
"""Tasks given to the scheduler per worker at a time: all at once would keep every input in its memory."""

CONNECT_SECONDS = 30
WORKERS_SECONDS = 60

_AGAIN = "Run the same command again: it goes on where it stopped."


def run_on_cluster(
    function: Callable[[Task], Answer],
    tasks: Iterable[Task],
    *,
    split: Callable[[Task], list[Task]],
    scheduler: str,
    patience: float = WORKERS_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
) -> Iterator[tuple[Task, Answer | None]]:
    """Each task with its answer, as soon as it is there; ``tasks`` is read only as far ahead as workers need.

    It waits for a scheduler, also for one that it has lost, for ``connect_seconds``, and for the first worker for
    ``patience`` seconds. When all workers leave later, it waits for others.

    Args:
        function: A module-level function. It may run twice for one task when a worker is killed, so it must be
            harmless to repeat.
        tasks: Values that can be pickled; may be endless.
        split: The parts of a task that killed its workers again and again; a task that cannot be split gives itself
            alone. Each part is tried on its own, and one that still kills its workers gets the answer ``None``.
        scheduler: ``tcp://HOST:PORT`` of a Dask scheduler.
        patience: See above, in seconds.
        connect_seconds: See above.

    Raises:
        InfrastructureError: The cluster was lost, or what ``function`` raises.
    """
    if find_spec("distributed") is None:
        raise InfrastructureError(
            "A scheduler needs Dask, which is not installed.", remedy="Install it: pip install 'dramaturg[dask]'."
        )
    from distributed import as_completed

    held: dict[str, Task] = {}
    suspects: list[Task] = []
    remaining = iter(tasks)
    with _connected(scheduler, connect_seconds, patience) as client:
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


def _answer(future: Any, scheduler: str) -> tuple[bool, Any]:
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
def _loss_named(scheduler: str) -> Iterator[None]:
    """Around everything that asks the scheduler: what Dask raises when it is gone becomes one error."""
    from distributed.client import ClosedClientError, FutureCancelledError

    try:
        yield
    except (ClosedClientError, FutureCancelledError, OSError):
        raise InfrastructureError("The connection to the scheduler was lost.", place=scheduler, remedy=_AGAIN) from None


@contextmanager
def _connected(scheduler: str, connect_seconds: float, patience: float) -> Iterator[Any]:
    from distributed import Client

    # Their tracebacks would be printed before the one error of a lost scheduler.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=connect_seconds)
    except (OSError, TimeoutError, ValueError) as error:
        raise InfrastructureError(
            f"No scheduler answers there: {error}.",
            place=scheduler,
            remedy="Start one (dask scheduler), and name its address as tcp://HOST:PORT.",
        ) from None
    with client:
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
