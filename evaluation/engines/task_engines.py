"""Run independent tasks in this process, in a pool of processes or on a Dask cluster."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from enum import StrEnum
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

from evaluation.errors import InfrastructureError, InputError

_BATCHES_IN_FLIGHT_PER_PROCESS = 2

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def map_in_processes(
    function: Callable[[list[Item]], list[Answer]], items: Iterable[Item], *, jobs: int, batch_size: int
) -> Iterator[tuple[Item, Answer]]:
    """Each item with its answer, in the order of ``items``, which is read only as far ahead as the processes need.

    Args:
        function: A module-level function (or a partial of one) from a batch to one answer per item.
        items: May be endless.
        jobs: How many processes.
        batch_size: How many items go to a process at a time.

    Raises:
        InfrastructureError: A process ended before it had answered. What ``function`` raises is raised here.
    """
    # A forked process would inherit locks that other threads hold (Streamlit's, DuckDB's); a spawned one starts clean.
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"), initializer=_settle_in)
    remaining = iter(items)
    waiting: deque[tuple[list[Item], Future[list[Answer]]]] = deque()
    try:
        while batch := list(islice(remaining, batch_size)):
            waiting.append((batch, pool.submit(function, batch)))
            if len(waiting) >= jobs * _BATCHES_IN_FLIGHT_PER_PROCESS:
                yield from _answers(*waiting.popleft())
        while waiting:
            yield from _answers(*waiting.popleft())
    except BrokenProcessPool:
        raise InfrastructureError(
            "A process that computed metrics ended before it had answered.",
            remedy="The memory may have run out: try again with fewer jobs.",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _settle_in() -> None:
    """Begins a process of the pool: it leaves Ctrl+C to its parent, and does not outlive it, however that one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answers(batch: list[Item], future: Future[list[Answer]]) -> Iterator[tuple[Item, Answer]]:
    yield from zip(batch, future.result(), strict=True)


Task = TypeVar("Task")


class EngineName(StrEnum):
    """Places where games are scored."""

    LOCAL = "local"
    DASK = "dask"


def run_tasks(
    function: Callable[[Task], Answer],
    tasks: Iterable[Task],
    *,
    split: Callable[[Task], list[Task]],
    engine: EngineName = EngineName.LOCAL,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[tuple[Task, Answer | None]]:
    """Each task with its answer, as soon as it is there; ``tasks`` is read only as far ahead as workers need.

    Args:
        function: A module-level function. It may run twice for one task when a worker is killed, so it must be
            harmless to repeat.
        tasks: Values that can be pickled; may be endless.
        split: The parts of a task that killed its workers again and again; a task that cannot be split gives itself
            alone. On a cluster each part is tried on its own, and one that still kills its workers gets the answer
            ``None``.
        engine: Where to run.
        jobs: How many processes of this machine; with a scheduler it has no meaning.
        scheduler: ``tcp://HOST:PORT`` of a Dask scheduler; ``None`` starts a cluster of ``jobs`` processes here.

    Raises:
        InfrastructureError: The cluster or pool was lost, or what ``function`` raises.
        InputError: A scheduler was named for another engine than Dask.
    """
    if engine is EngineName.DASK:
        from evaluation.engines._dask_cluster import run_on_cluster

        yield from run_on_cluster(function, tasks, split=split, jobs=jobs, scheduler=scheduler)
        return
    if scheduler is not None:
        raise InputError("Only the engine 'dask' has a scheduler.", place="--scheduler", remedy="Add --engine dask.")
    if jobs == 1:
        for task in tasks:
            yield task, function(task)
    else:
        yield from map_in_processes(partial(_each, function), tasks, jobs=jobs, batch_size=1)


def _each(function: Callable[[Task], Answer], tasks: list[Task]) -> list[Answer | None]:
    return [function(task) for task in tasks]
