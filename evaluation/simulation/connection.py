"""One limit for all calls of an experiment, which stops if a call stays without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from evaluation.judging.model_client.budget import BudgetSpentError
from evaluation.judging.model_client.calls import LLMResponse, Messages, Price, Provider
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, JudgeRequest, Report


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
    ) -> LLMResponse:
        """The answer; the time in the queue is not the server's silence, and does not count."""
        async with self._slots:
            return await self._provider.complete(
                messages, temperature=temperature, max_tokens=max_tokens, timeout_seconds=timeout_seconds
            )

    async def price(self) -> Price | None:
        """The price of the model's tokens."""
        return await self._provider.price()


class RaisingJudge:
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
