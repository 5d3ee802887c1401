"""Map a function over many items in a pool of processes, in order and in bounded memory."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

from evaluation.errors import InfrastructureError

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
