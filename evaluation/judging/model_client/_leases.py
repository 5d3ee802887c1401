"""Leave to make a call: a place under the server's limit, and money set aside from the budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.server_state import CallEnd, ServerCall, ServerState


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """The call that a lease is wanted for.

    Attributes:
        usd: What it costs at most.
        has_place: Whether it waits for a place under the server's limit.
        is_refused: Whether it was one too many before (a 429), and goes first.
        is_retry: Whether it failed before.
    """

    usd: float
    has_place: bool = True
    is_refused: bool = False
    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class Lease:
    """Leave to make one call; it must be ended.

    Attributes:
        timeout_seconds: How long the call may take.
        call: The call as the server's state knows it.
    """

    terms: LeaseTerms
    timeout_seconds: float
    call: ServerCall


class CallLeases:
    """Leases from a budget and a server's state of this process; safe to use from several threads and event loops.

    Args:
        budget: What may be spent.
        server: What is known of the server.
        concurrency: The largest limit of calls under way.
        timeout_seconds: The upper limit of a call's timeout.
        is_adaptive: Whether the timeout follows the server's pace below that.
    """

    def __init__(
        self,
        budget: Budget,
        server: ServerState,
        *,
        concurrency: int,
        timeout_seconds: float,
        is_adaptive: bool = True,
    ) -> None:
        self.budget = budget
        self._load = server.concurrency
        self._concurrency = max(1, concurrency)
        self._timeout_seconds = timeout_seconds
        self._is_adaptive = is_adaptive

    async def begin(self, terms: LeaseTerms) -> Lease:
        """Waits until the call may be sent: for a place first, so that a call that waits for one holds no money.

        Raises:
            BudgetSpentError: The budget does not allow it, or the run was stopped.
        """
        if terms.has_place:
            await self._load.acquire(self._concurrency, is_refused=terms.is_refused)
        try:
            await self.budget.set_aside(terms.usd)
        except (BudgetSpentError, asyncio.CancelledError):
            if terms.has_place:
                self._load.release()
            raise
        timeout = self._timeout_seconds
        if self._is_adaptive:
            timeout = self._load.timeout_seconds(timeout, is_retry=terms.is_retry)
        return Lease(terms, timeout, self._load.send())

    def end(self, lease: Lease, how: CallEnd, cost_usd: float | None) -> bool:
        """Ends a call, and says whether the server had begun it.

        Args:
            lease: From ``begin``.
            how: How it ended.
            cost_usd: What it cost; ``None`` for an answer whose price is not known.
        """
        is_begun = self._load.end(lease.call, how, lease.timeout_seconds, self._concurrency)
        self.budget.settle(lease.terms.usd, cost_usd, is_begun=is_begun)
        if lease.terms.has_place:
            self._load.release()
        return is_begun
