"""One limit for everything that an experiment asks, and answers that are stored many at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TypeVar

from evaluation.errors import InfrastructureError, StoreBusyError
from evaluation.judging.budget import BudgetSpentError
from evaluation.judging.cached import JudgementCache, KeptAnswer
from evaluation.judging.calls import CallRecord, Completion, Messages, Provider
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, JudgeRequest, Report
from evaluation.judging.usage import Price
from evaluation.simulation.writing import GATHER_SECONDS

_PATIENCE = 12
"""Further tries; each waits as long as the store does, ten seconds by default."""

Result = TypeVar("Result")


def patiently(work: Callable[[], Result]) -> Result:
    """What ``work`` gives, tried again while others write: what was paid for must not be lost to a busy moment.

    Raises:
        StoreBusyError: The store was busy for minutes.
    """
    for _ in range(_PATIENCE):
        try:
            return work()
        except StoreBusyError:
            continue
    return work()


class BoundedProvider:
    """Lets at most ``concurrency`` calls be under way, whoever makes them: agents, gate, interventions, judges.

    Args:
        provider: Where the calls go.
        concurrency: How many at the same time.
    """

    def __init__(self, provider: Provider, concurrency: int) -> None:
        self._provider = provider
        self._slots = asyncio.Semaphore(concurrency)

    @property
    def model(self) -> str:
        """The model's name."""
        return self._provider.model

    def session(self) -> AbstractAsyncContextManager[None]:
        """Keeps connections open from call to call."""
        return self._provider.session()

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> Completion:
        """The answer; the time in the queue is not the server's silence, and does not count."""
        async with self._slots:
            return await self._provider.complete(
                messages, temperature=temperature, max_tokens=max_tokens, timeout_seconds=timeout_seconds
            )

    async def price(self) -> Price | None:
        """What the model's tokens cost."""
        return await self._provider.price()


class UnforgivingJudge:
    """Ends the run where a judge would only skip a question because nothing more may be spent.

    A message that passed the gate because there was no money to look at it must not enter an experiment.

    Args:
        judge: Answers.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request.

        Raises:
            BudgetSpentError: One of them was skipped.
        """
        judgements = await self._judge.judge(requests, report=report)
        for judgement in judgements:
            if judgement.status is JudgementStatus.SKIPPED:
                raise BudgetSpentError(judgement.detail)
        return judgements


class _Batch:
    def __init__(self) -> None:
        self.answers: list[KeptAnswer] = []
        self.calls: list[CallRecord] = []
        self.is_stored = threading.Event()
        # Until it is known that it has not.
        self.has_failed = True


class GatheredCache:
    """A ``JudgementCache`` for many judges at a time: what comes within a moment is stored in one transaction.

    A transaction waits for the disk; one for each of a hundred answers a second would be all that is done.

    Args:
        cache: Where answers are kept.
        known: The keys that are kept already, so that nobody looks for others.
        heavy: Where the storing is done.
    """

    def __init__(self, cache: JudgementCache, known: Iterable[str], heavy: Executor) -> None:
        self._cache = cache
        self._heavy = heavy
        self._known = set(known)
        self._lock = threading.Lock()
        self._batch: _Batch | None = None

    def lookup(self, keys: Sequence[str]) -> Mapping[str, KeptAnswer]:
        """The answers kept under ``keys``."""
        there = [key for key in keys if key in self._known]
        return self._cache.lookup(there) if there else {}

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord]) -> None:
        """Stores answers and calls together with those of others; returns when they are safe.

        Raises:
            StoreError: They could not be stored.
            InfrastructureError: They were to be stored with those of others, which failed.
        """
        with self._lock:
            is_first = self._batch is None
            batch = self._batch = self._batch or _Batch()
            batch.answers += answers
            batch.calls += calls
        if is_first:
            self._store(batch)
        else:
            batch.is_stored.wait()
            if batch.has_failed:
                raise InfrastructureError("Answers could not be stored.", remedy="See the first error; then go on.")

    def _store(self, batch: _Batch) -> None:
        time.sleep(GATHER_SECONDS)
        with self._lock:
            self._batch = None
        try:
            keep = partial(self._cache.keep, batch.answers, batch.calls)
            self._heavy.submit(patiently, keep).result()
            self._known |= {answer.key for answer in batch.answers}
            batch.has_failed = False
        finally:
            batch.is_stored.set()
