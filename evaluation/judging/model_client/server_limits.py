"""The places for calls and the circuit breaker that all clients of one model at one address share."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from weakref import WeakKeyDictionary

FAILURES_UNTIL_OPEN = 5
PROBE_AFTER_SECONDS = 30.0
BREAKER_OPEN = "breaker open"
"""Why a call was not made while the circuit breaker is open."""

_LOGGER = logging.getLogger(__name__)


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
    """The places for calls and the circuit breaker of one model at one address."""

    def __init__(self, name: str = "") -> None:
        self.breaker = CircuitBreaker(name)
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    def places(self, most: int) -> asyncio.Semaphore:
        """The places of this event loop: as many calls may be under way as its first client allows."""
        return self._places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(most))


@cache
def shared_limits(model: str, address: str) -> ServerLimits:
    """The limits that all clients of this process share for a model and its address (empty: the provider's own)."""
    return ServerLimits(f"{model} at {address}" if address else model)
