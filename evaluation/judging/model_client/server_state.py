"""Derive a server's load, pace and faults from its answers: the calls it can take, their timeout, a circuit breaker."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from evaluation.judging.model_client.budget import wake

FIRST_LIMIT = 4
"""Calls under way at the same time before anything is known of a server."""

FIRST_TIMEOUT_SECONDS = 60.0
"""How long a call may take before ten answers are known."""

LONGEST_TIMEOUT_SECONDS = 600.0
SHORTEST_TIMEOUT_SECONDS = 10.0
"""The shortest timeout that is derived from quick answers: a pause of a second is not a fault of a server."""

FAILURES_UNTIL_OPEN = 5
PROBE_AFTER_SECONDS = 30.0
BREAKER_OPEN = "breaker open"
"""Why a call was not made while the circuit breaker is open."""

_ANSWERS_NEEDED = 10
_ANSWERS_KEPT = 100
_TIMEOUT_FACTOR = 4.0
_PERCENTILE = 0.95
_RISING = 1.02
_RISING_WHILE_DOUBLING = 1.4
_FIRST_PAUSE = 4

_LOGGER = logging.getLogger(__name__)


class CallEnd(StrEnum):
    """The end of a call, as far as the server's load is concerned."""

    ANSWERED = "answered"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    OTHER = "other"


@dataclass(eq=False, slots=True)
class ServerCall:
    """One call under way.

    Attributes:
        sent_at: When it was sent, by the clock of the state.
        ahead: Calls sent before it that had no answer when it was sent.
        answers_before: Answers that had come when it was sent.
        ends_ahead: When those ahead ended.
        is_overtaken: Whether a call that was sent later has been answered.
    """

    sent_at: float = 0.0
    ahead: int = 0
    answers_before: int = 0
    ends_ahead: list[float] = field(default_factory=list)
    is_overtaken: bool = False


class CallOrder:
    """The calls under way in the order in which they were sent, and which of them the server can have begun.

    A server that takes every connection and answers one after the other does not show which call it works on. Its pace
    does: it works on as many calls as it has slots, in the order in which they were sent.
    """

    def __init__(self) -> None:
        self._sent: list[ServerCall] = []
        self._answers = 0
        self._quickest = float("inf")
        self._slots_seen = 1
        self._best_rate = 0.0

    def send(self, now: float) -> ServerCall:
        """Notes that a call is sent."""
        call = ServerCall(now, len(self._sent), self._answers)
        self._sent.append(call)
        return call

    def end(self, call: ServerCall, now: float, *, is_answered: bool) -> None:
        """Notes that a call ended."""
        position = self._sent.index(call)
        del self._sent[position]
        for later in self._sent[position:]:
            later.ends_ahead.append(now)
        if is_answered:
            self._answers += 1
            self._quickest = min(self._quickest, now - call.sent_at)
            self._slots_seen = max(self._slots_seen, position + 1)
            for earlier in self._sent[:position]:
                earlier.is_overtaken = True

    def note_rate(self, answers_per_second: float) -> None:
        """Notes how many answers came in a second, over a stretch of time."""
        self._best_rate = max(self._best_rate, answers_per_second)

    def was_begun(self, call: ServerCall, now: float) -> bool:
        """Whether the server worked on a call that timed out for as long as its quickest answer took."""
        if call.is_overtaken or self._answers == call.answers_before:
            return True
        # Slots that were seen, or follow by Little's law.
        slots = max(self._slots_seen, round(self._best_rate * self._quickest))
        must_end = call.ahead - slots + 1
        if must_end <= 0:
            return True
        if len(call.ends_ahead) < must_end:
            return False
        return now - call.ends_ahead[must_end - 1] >= self._quickest


class AdaptiveConcurrency:
    """Limits the calls under way to what a server can take, and derives their timeout from its answers.

    The limit starts at 4. After as many answers as the limit it grows if calls were waiting, throughput rose and the
    slowest of these answers took less than half the timeout: it doubles until throughput rises less than the limit
    does, and grows by one from then on. It halves after a timeout or a 429, once for all calls that were sent before.
    Safe to use from several threads and event loops.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._limit = FIRST_LIMIT
        self._taken = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None], int]] = deque()
        self._order = CallOrder()
        self._seconds: deque[float] = deque(maxlen=_ANSWERS_KEPT)
        self._halved_at = float("-inf")
        self._window = _Window(self._clock())
        self._rate_before = 0.0
        self._is_doubling = True
        self._pause = _FIRST_PAUSE
        self._windows_left = 0

    @property
    def limit(self) -> int:
        """The number of calls that may be under way now."""
        return self._limit

    def timeout_seconds(self, longest: float = LONGEST_TIMEOUT_SECONDS, *, is_retry: bool = False) -> float:
        """The timeout of the next call: 60 s, or four times the 95th percentile of the last 100 answers.

        Args:
            longest: The upper limit that a person gave, in seconds.
            is_retry: Whether the call failed before. It gets 60 s at least then: a long answer among short ones takes
                longer than they tell.
        """
        with self._lock:
            ordered = sorted(self._seconds)
        found = FIRST_TIMEOUT_SECONDS
        if len(ordered) >= _ANSWERS_NEEDED:
            found = _TIMEOUT_FACTOR * ordered[min(int(_PERCENTILE * len(ordered)), len(ordered) - 1)]
        shortest = FIRST_TIMEOUT_SECONDS if is_retry else SHORTEST_TIMEOUT_SECONDS
        return min(max(found, shortest), LONGEST_TIMEOUT_SECONDS, longest)

    async def acquire(self, most: int, *, is_refused: bool = False) -> None:
        """Waits until one more call may be under way; ``release`` gives the place back.

        Args:
            most: The largest limit that the caller allows.
            is_refused: Whether the call was one too many before (a 429); it goes before all others that wait. Behind
                them, one call can be the one too many in every round, and be refused until it has no try left.
        """
        with self._lock:
            if not self._taken and not self._waiting:
                # A pause between two runs says nothing of the server's throughput.
                self._window = _Window(self._clock())
            if not self._waiting and self._taken < min(self._limit, most):
                self._taken += 1
                return
            loop = asyncio.get_running_loop()
            place: asyncio.Future[None] = loop.create_future()
            if is_refused:
                self._waiting.appendleft((loop, place, most))
            else:
                self._waiting.append((loop, place, most))
            self._window.has_waited = True
        try:
            await place
        except asyncio.CancelledError:
            with self._lock:
                entry = (loop, place, most)
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

    def send(self) -> ServerCall:
        """Notes that a call is sent now; it must be ended."""
        with self._lock:
            return self._order.send(self._clock())

    def end(self, call: ServerCall, how: CallEnd, timeout_seconds: float, most: int) -> bool:
        """Notes that a call ended, and says whether the server had begun it; only a timeout can come before that.

        Args:
            call: From ``send``.
            how: How it ended.
            timeout_seconds: How long it was given.
            most: The largest limit that the caller allows.
        """
        with self._lock:
            now = self._clock()
            is_begun = how is not CallEnd.TIMEOUT or self._order.was_begun(call, now)
            self._order.end(call, now, is_answered=how is CallEnd.ANSWERED)
            if how is CallEnd.ANSWERED:
                self._note_answer(now - call.sent_at, now, timeout_seconds, most)
            elif how is not CallEnd.OTHER and call.sent_at >= self._halved_at:
                self._halve(now, most)
            return is_begun

    def _halve(self, now: float, most: int) -> None:
        self._limit = max(1, min(self._limit, most) // 2)
        self._halved_at = now
        self._rate_before = 0.0
        self._is_doubling = False
        self._window = _Window(now)

    def _note_answer(self, seconds: float, now: float, timeout_seconds: float, most: int) -> None:
        self._seconds.append(seconds)
        window = self._window
        window.answers += 1
        window.slowest = max(window.slowest, seconds)
        if window.answers >= self._limit:
            self._end_window(now, timeout_seconds, most)

    def _end_window(self, now: float, timeout_seconds: float, most: int) -> None:
        """Compares the throughput since the last look with that before it, and raises the limit or leaves it."""
        window, self._window = self._window, _Window(now, has_waited=bool(self._waiting))
        rate = window.answers / max(now - window.started_at, 1e-6)
        self._order.note_rate(rate)
        if not window.has_waited or self._limit >= most or window.slowest >= timeout_seconds / 2:
            return
        # Twice as many calls may take twice as long each.
        has_room = window.slowest < timeout_seconds / 4
        self._is_doubling = self._is_doubling and has_room and rate > _RISING_WHILE_DOUBLING * self._rate_before
        if self._is_doubling:
            self._rate_before = rate
            self._limit = min(2 * self._limit, most)
            self._admit()
            return
        self._windows_left -= 1
        is_rising = rate > _RISING * self._rate_before
        if is_rising or self._windows_left <= 0:
            # Rates vary by chance, so one that did not rise is tried again: after 4 windows, then 8, 16, ...
            self._pause = _FIRST_PAUSE if is_rising else 2 * self._pause
            self._windows_left = self._pause
            self._rate_before = rate
            self._limit += 1
            self._admit()

    def _admit(self) -> None:
        while self._waiting:
            loop, place, most = self._waiting[0]
            if self._taken >= min(self._limit, most):
                return
            self._waiting.popleft()
            if loop.is_closed():
                continue
            self._taken += 1
            loop.call_soon_threadsafe(wake, place)


@dataclass(slots=True)
class _Window:
    """The answers since the limit was last looked at."""

    started_at: float
    answers: int = 0
    slowest: float = 0.0
    has_waited: bool = False


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


class ServerState:
    """The concurrency and the circuit breaker of one model at one address."""

    def __init__(self, name: str = "") -> None:
        self.concurrency = AdaptiveConcurrency()
        self.breaker = CircuitBreaker(name)


@cache
def shared_state(model: str, address: str) -> ServerState:
    """The state that all clients of this process share for a model and its address (empty: the provider's own)."""
    return ServerState(f"{model} at {address}" if address else model)
