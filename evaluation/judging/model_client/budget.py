"""Limits on money and calls of a run, limits on the calls of one check of the gate, and the switch that stops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from evaluation.errors import JudgeError
from evaluation.progress import pace_words
from evaluation.text.display import counted

SPENT = "budget"
"""Why a run stopped whose limit is reached."""


class BudgetSpentError(Exception):
    """No further call is allowed: a limit is reached, or the run was stopped.

    Attributes:
        reason: The short word that skipped judgements are stored with: ``SPENT``, or what ``Budget.stop`` was given.
        failure: Why the call before failed, of which this would have been another try; ``None`` where none was made.
    """

    failure: JudgeError | None = None

    def __init__(self, reason: str) -> None:
        super().__init__("The budget is spent." if reason == SPENT else f"The run was stopped: {reason}.")
        self.reason = reason

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached, rather than the run stopped."""
        return self.reason == SPENT


class Budget:
    """The budget of a run. No limit is ever passed: money is reserved before a call and settled after it.

    One budget may be shared by several judges and threads.

    Args:
        usd: Limit in US dollars; ``None`` for none.
        calls: Limit of calls, failed ones and retries included; ``None`` for none.
    """

    def __init__(self, *, usd: float | None = None, calls: int | None = None) -> None:
        self.usd = usd
        self.calls = calls
        self._lock = threading.Lock()
        self._spent = 0.0
        self._set_aside = 0.0
        self._started = 0
        self._unpriced = 0
        self._in_flight = 0
        self._stopped = ""
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def spent_usd(self) -> float:
        """The cost of the calls so far, as far as their price is known."""
        return self._spent

    @property
    def unpriced_calls(self) -> int:
        """Answered calls whose price is not known, and which ``spent_usd`` leaves out."""
        return self._unpriced

    @property
    def known_usd(self) -> float | None:
        """``spent_usd``, or ``None`` when calls were answered and no price is known."""
        return None if self._unpriced and not self._spent else self._spent

    @property
    def calls_made(self) -> int:
        """Calls begun so far."""
        return self._started

    def stop(self, reason: str = "cancelled") -> None:
        """Lets nothing more begin; what is under way ends. Safe from any thread."""
        with self._lock:
            self._stopped = reason
            self._wake()

    @property
    def stopped(self) -> str:
        """The reason that ``stop`` was given; empty while calls may begin."""
        return self._stopped

    async def set_aside(self, usd: float) -> None:
        """Allows one call that costs at most ``usd``; every such call must be settled.

        Waits while only calls under way keep the money from being free.

        Raises:
            BudgetSpentError: A limit is reached (``SPENT``), or the run was stopped (the reason given).
        """
        while True:
            with self._lock:
                if self._stopped:
                    raise BudgetSpentError(self._stopped)
                if self.calls is not None and self._started >= self.calls:
                    raise BudgetSpentError(SPENT)
                if self.usd is None or self._spent + self._set_aside + usd <= self.usd:
                    self._started += 1
                    self._in_flight += 1
                    self._set_aside += usd
                    return
                if not self._in_flight:
                    raise BudgetSpentError(SPENT)
                loop = asyncio.get_running_loop()
                settled = loop.create_future()
                self._waiting.append((loop, settled))
            await settled

    def settle(self, set_aside_usd: float, cost_usd: float | None) -> None:
        """Ends a call for which ``set_aside_usd`` was set aside.

        Args:
            set_aside_usd: What was set aside for it.
            cost_usd: What it cost; ``None`` for an answer whose price is not known.
        """
        with self._lock:
            self._in_flight -= 1
            self._set_aside -= set_aside_usd
            self._unpriced += cost_usd is None
            # Nothing gives money back: not a price below nothing either.
            self._spent += max(cost_usd or 0.0, 0.0)
            self._wake()

    def _wake(self) -> None:
        for loop, settled in self._waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake, settled)
        self._waiting.clear()


def spent_words(budget: Budget) -> str:
    """The cost of a run so far: "12 calls, $0.0031", "12 calls, cost not known"."""
    calls = counted(budget.calls_made, "call")
    if budget.known_usd is None:
        return f"{calls}, cost not known"
    rest = f" and {budget.unpriced_calls:,} of unknown price" if budget.unpriced_calls else ""
    return f"{calls}, ${budget.known_usd:.4f}{rest}"


def progress_words(budget: Budget, done: int, total: int, seconds: float) -> str:
    """The cost of a run, and while it goes on its rate and the time left: "12 calls, $0.0031, 2.1 a second, 40 s left".

    Args:
        budget: Of the run.
        done: Items that are done.
        total: All items.
        seconds: How long that took.
    """
    pace = pace_words(done, total, seconds) if budget.calls_made and done < total else ""
    return ", ".join(filter(None, (spent_words(budget), pace)))


def wake(waiting: asyncio.Future[None]) -> None:
    """Lets whoever awaits ``waiting`` go on; one that was cancelled stays so."""
    if not waiting.done():
        waiting.set_result(None)


@dataclass(slots=True)
class Reasks:
    """Further calls after a failure or an unusable answer, shared by all attempts at one message."""

    left: int = 1


@dataclass(slots=True)
class CallCounts:
    """Counts of calls to a model, failed ones included.

    Attributes:
        calls: Calls that were sent.
        cost_usd: What they cost, as far as it is known.
        unpriced_calls: Those whose price is not known.
    """

    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    @property
    def known_usd(self) -> float | None:
        """``cost_usd``, or ``None`` when a call was answered whose price is not known."""
        return None if self.unpriced_calls else self.cost_usd

    def settle(self, cost_usd: float | None) -> None:
        """Counts a call that ended; ``None`` is an answer whose price is not known."""
        self.calls += 1
        self.cost_usd += cost_usd or 0.0
        self.unpriced_calls += cost_usd is None


@dataclass(slots=True)
class CheckLimits(CallCounts):
    """The calls that one check of a message in one dimension may make, and those that it made.

    Attributes:
        reasks: Calls beyond the first that may still be made.
        is_live: Whether somebody waits for the message. Then a call waits for no place, and the circuit breaker counts.
        first_calls: Calls that need no re-ask.
    """

    reasks: Reasks = field(default_factory=Reasks)
    is_live: bool = True
    first_calls: int = 1

    @property
    def has_call(self) -> bool:
        """Whether another call may be made."""
        return self.first_calls > 0 or self.reasks.left > 0

    def take(self) -> bool:
        """Takes one call; ``False`` when none is left."""
        if self.first_calls > 0:
            self.first_calls -= 1
        elif self.reasks.left > 0:
            self.reasks.left -= 1
        else:
            return False
        return True


_counting: ContextVar[tuple[CallCounts, ...]] = ContextVar("counting", default=())


def current_counts() -> tuple[CallCounts, ...]:
    """Counts of the calls that are made here, the innermost first."""
    return _counting.get()


def current_limits() -> CheckLimits | None:
    """The limits in force here; ``None`` outside a check of the gate."""
    return next((counts for counts in _counting.get() if isinstance(counts, CheckLimits)), None)


@contextmanager
def counted_calls(counts: CallCounts) -> Iterator[None]:
    """Lets ``counts`` count the calls of everything that is awaited in the block, and of tasks that it starts.

    Limits are in force there too.
    """
    token = _counting.set((counts, *_counting.get()))
    try:
        yield
    finally:
        _counting.reset(token)
