"""The limit of calls under way and the circuit breaker that all clients of one model at one address share."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache

from evaluation.judging.model_client.budget import wake

FIRST_LIMIT = 4
"""Calls under way at the same time before a server has answered."""

FAILURES_UNTIL_OPEN = 5
PROBE_AFTER_SECONDS = 30.0
BREAKER_OPEN = "breaker open"
"""Why a call was not made while the circuit breaker is open."""

_LOGGER = logging.getLogger(__name__)


class Concurrency:
    """Limits the calls under way: four at first, twice as many after each full round of answers, half after a failure.

    Once it was halved, it grows by one a round. It does not grow while an answer takes more than half the timeout: a
    server with a single slot would take twice as long with twice as many. Safe in several threads and event loops.

    Attributes:
        limit: The number of calls that may be under way now.
        halvings: How often it was halved.
    """

    def __init__(self) -> None:
        self.limit = FIRST_LIMIT
        self.halvings = 0
        self._lock = threading.Lock()
        self._taken = 0
        self._answers = 0
        self._is_slow = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None], int]] = deque()

    async def acquire(self, most: int, *, is_first: bool = False) -> None:
        """Waits until one more call may be under way; ``release`` gives the place back.

        Args:
            most: The largest limit that the caller allows.
            is_first: Whether it goes before all others that wait. A call that was one too many can be so in every
                round if it stands behind them, until it has no try left.
        """
        with self._lock:
            if not self._waiting and self._taken < min(self.limit, most):
                self._taken += 1
                return
            loop = asyncio.get_running_loop()
            entry = (loop, loop.create_future(), most)
            self._waiting.insert(0 if is_first else len(self._waiting), entry)
        try:
            await entry[1]
        except asyncio.CancelledError:
            with self._lock:
                if entry in self._waiting:
                    self._waiting.remove(entry)
                else:
                    self._taken -= 1
                    self._admit()
            raise

    def release(self) -> None:
        """Gives a place back."""
        with self._lock:
            self._taken -= 1
            self._admit()

    def note_answer(self, most: int, *, is_slow: bool) -> None:
        """Counts an answer; ``is_slow``: it took more than half the timeout."""
        with self._lock:
            self._answers += 1
            self._is_slow |= is_slow
            if self._answers >= self.limit:
                if not self._is_slow:
                    self.limit = max(self.limit, min(self.limit + (1 if self.halvings else self.limit), most))
                self._answers, self._is_slow = 0, False
                self._admit()

    def halve(self, halvings: int, most: int) -> None:
        """After a timeout or a 429 of a call that was sent after so many ``halvings``; once for all of these calls."""
        with self._lock:
            if halvings == self.halvings:
                self.limit = max(1, min(self.limit, most) // 2)
                self.halvings += 1
                self._answers, self._is_slow = 0, False

    def _admit(self) -> None:
        while self._waiting and self._taken < min(self.limit, self._waiting[0][2]):
            loop, place, _ = self._waiting.popleft()
            if not loop.is_closed():
                self._taken += 1
                loop.call_soon_threadsafe(wake, place)


class CircuitBreaker:
    """Stops the gate from asking a judge that fails again and again.

    It opens after five failures in a row. From 30 s later on it lets one probe through at a time; a usable answer
    closes it.

    Args:
        name: The model and its address, for the log.
        clock: Seconds that never go back.
    """

    def __init__(self, name: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._probe_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, but for a probe."""
        return self._probe_at is not None

    def allows_call(self) -> bool:
        """Whether a call may be made now; while the breaker is open, one in 30 s."""
        with self._lock:
            if self._probe_at is None:
                return True
            if self._clock() < self._probe_at:
                return False
            self._probe_at = self._clock() + PROBE_AFTER_SECONDS
            return True

    def note(self, *, is_usable: bool) -> None:
        """Counts the outcome of a call: a usable answer, or a failure of any kind."""
        with self._lock:
            if is_usable:
                if self._probe_at is not None:
                    _LOGGER.warning("The judge %s answers again: the breaker is closed", self._name)
                self._failures, self._probe_at = 0, None
                return
            self._failures += 1
            if self._failures == FAILURES_UNTIL_OPEN:
                _LOGGER.warning("The judge %s failed %d times in a row: breaker open", self._name, self._failures)
            if self._failures >= FAILURES_UNTIL_OPEN:
                self._probe_at = self._clock() + PROBE_AFTER_SECONDS


class ServerLimits:
    """The limit of calls and the circuit breaker of one model at one address."""

    def __init__(self, name: str = "") -> None:
        self.concurrency = Concurrency()
        self.breaker = CircuitBreaker(name)


@cache
def shared_limits(model: str, address: str) -> ServerLimits:
    """The limits that all clients of this process share for a model and its address (empty: the provider's own)."""
    return ServerLimits(f"{model} at {address}" if address else model)
