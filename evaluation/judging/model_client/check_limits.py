"""Limits on the calls that may be made for one check of the gate, whatever judge and client make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Reasks:
    """Further calls after a failure or an unusable answer, shared by all attempts at one message."""

    left: int = 1


@dataclass(slots=True)
class CheckLimits:
    """The calls that one check of a message in one dimension may make.

    Attributes:
        reasks: Calls beyond the first that may still be made.
        waiting: Called when a call begins to wait for a place or for money.
        begun: Called when a call is sent, after that wait.
        is_live: Whether somebody waits for the message. Then a call waits for no place, and the circuit breaker counts.
        first_calls: Calls that need no re-ask.
        calls_made: Calls that were sent.
        cost_usd: What they cost, as far as it is known.
        unpriced_calls: Those whose price is not known.
    """

    reasks: Reasks = field(default_factory=Reasks)
    waiting: Callable[[], None] = lambda: None
    begun: Callable[[], None] = lambda: None
    is_live: bool = True
    first_calls: int = 1
    calls_made: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    @property
    def known_usd(self) -> float | None:
        """``cost_usd``, or ``None`` when a call was answered whose price is not known."""
        return None if self.unpriced_calls else self.cost_usd

    def settle(self, cost_usd: float | None) -> None:
        """Counts a call that ended; ``None`` is an answer whose price is not known."""
        self.calls_made += 1
        self.cost_usd += cost_usd or 0.0
        self.unpriced_calls += cost_usd is None

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


_limits: ContextVar[CheckLimits | None] = ContextVar("check_limits", default=None)


def current_limits() -> CheckLimits | None:
    """The limits in force here; ``None`` outside a check of the gate."""
    return _limits.get()


@contextmanager
def limited_calls(limits: CheckLimits) -> Iterator[None]:
    """Puts ``limits`` in force for everything that is awaited in the block, and for tasks that it starts."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)
