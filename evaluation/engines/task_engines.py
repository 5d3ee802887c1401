"""Run independent tasks in this process, in a pool of processes or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import partial
from typing import TypeVar

from evaluation.engines._process_pool import map_in_processes
from evaluation.errors import InputError

Task = TypeVar("Task")
Answer = TypeVar("Answer")


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
