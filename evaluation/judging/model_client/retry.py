"""Retry calls that failed for a temporary reason, and compute the wait before each retry."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TypeVar

Value = TypeVar("Value")


class FailureKind(StrEnum):
    """Why a call gave no answer."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    BROKEN_RESPONSE = "broken_response"
    REFUSED = "refused"
    NOT_BEGUN = "not_begun"
    PARAMETER_REFUSED = "parameter_refused"
    PROMPT_TOO_LONG = "prompt_too_long"
    TOKEN_LIMIT = "token_limit"
    FILTERED = "filtered"
    DECLINED = "declined"
    QUOTA_SPENT = "quota_spent"
    WRONG_KEY = "wrong_key"
    NOT_FOUND = "not_found"


PERMANENT = frozenset(
    {
        FailureKind.REFUSED,
        FailureKind.PROMPT_TOO_LONG,
        FailureKind.TOKEN_LIMIT,
        FailureKind.FILTERED,
        FailureKind.DECLINED,
        FailureKind.QUOTA_SPENT,
        FailureKind.WRONG_KEY,
        FailureKind.NOT_FOUND,
    }
)
"""What the same call would only meet again."""

ENDS_RUN = frozenset({FailureKind.QUOTA_SPENT, FailureKind.WRONG_KEY, FailureKind.NOT_FOUND})
"""What every other call of the run would meet, too."""


class CallFailure(Exception):
    """A call that gave no answer; its text is free of secrets.

    Args:
        kind: Why.
        message: What the provider or the network said, for people.
        status: The HTTP status, where there was one.
        retry_after: Seconds that the provider wants us to wait.
        parameter: The parameter of the request that the provider names as the cause.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.parameter = parameter

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind not in PERMANENT


_TOO_MANY_REQUESTS = 429
_TIMEOUT_STATUSES = frozenset({408, 504})
_ENDING_STATUSES = {401: FailureKind.WRONG_KEY, 402: FailureKind.QUOTA_SPENT, 404: FailureKind.NOT_FOUND}
_FIRST_CLIENT_ERROR, _FIRST_SERVER_ERROR = 400, 500


def kind_of_status(status: int) -> FailureKind:
    """The kind of failure for an HTTP status: of the client's errors only 408 and 429 are worth another try."""
    if status in _ENDING_STATUSES:
        return _ENDING_STATUSES[status]
    if status == _TOO_MANY_REQUESTS:
        return FailureKind.RATE_LIMITED
    if status in _TIMEOUT_STATUSES:
        return FailureKind.TIMEOUT
    if status >= _FIRST_SERVER_ERROR:
        return FailureKind.SERVER_ERROR
    return FailureKind.REFUSED if status >= _FIRST_CLIENT_ERROR else FailureKind.BROKEN_RESPONSE


def seconds_to_wait(header: str | None, now: datetime | None = None) -> float | None:
    """The value of a ``Retry-After`` header, seconds or an HTTP date, as seconds from ``now``; ``None`` if unreadable.

    A date in the past is 0.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _seconds_until(header, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, IndexError, OverflowError):
        return None
    return max(0.0, (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now.timestamp())


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of retries of a call, and the waits before them.

    Attributes:
        retries: Tries after the first.
        timeout_retries: Those of them that may follow a timeout: a slow answer is seldom quicker the next time.
        first_wait_seconds: The longest wait before the first retry; it doubles with each.
        longest_wait_seconds: Where the doubling ends.
        longest_told_wait_seconds: The most that a provider's ``Retry-After`` is heeded.
    """

    retries: int = 5
    timeout_retries: int = 1
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    longest_told_wait_seconds: float = 60.0

    def wait_seconds(self, retry: int, retry_after: float | None, chance: random.Random) -> float:
        """The wait before that retry (0 is the first): anything up to the back-off ("full jitter").

        With a ``Retry-After`` never less than that, and as much again of the first wait at most, so that not everybody
        comes back at once.
        """
        if retry_after is not None:
            return min(retry_after, self.longest_told_wait_seconds) + chance.uniform(0, self.first_wait_seconds)
        # Beyond a thousand doublings a float overflows; nobody waits that long.
        longest = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(retry, 64))
        return chance.uniform(0, longest)


_MOST_NOT_BEGUN = 5


async def call_with_retries(
    call: Callable[[int], Awaitable[Value]],
    policy: RetryPolicy,
    chance: random.Random,
    explain: Callable[[CallFailure, int, bool], Exception],
    may_retry: Callable[[], bool] = lambda: True,
) -> Value:
    """The result of ``call``, which is retried after transient failures, as the policy says.

    A call that the server had not begun is made again without counting as a try, five times at most; so is one that
    was refused for a parameter, which is left out then.

    Args:
        call: Makes one attempt; its argument is the number of the attempt, from 1.
        policy: How often to try again, and the longest waits.
        chance: Where the random part of the waits comes from.
        explain: Called with each failure, the number of the attempt, and whether it was the last one; what it returns
            for the last one is raised.
        may_retry: Asked after a failure; ``False`` makes it the last one.
    """
    attempt = 1
    timeouts = not_begun = 0
    while True:
        try:
            return await call(attempt)
        except CallFailure as failure:
            if failure.kind is FailureKind.PARAMETER_REFUSED:
                # Ends by itself: what was refused is not sent again.
                continue
            if failure.kind is FailureKind.NOT_BEGUN and not_begun < _MOST_NOT_BEGUN:
                not_begun += 1
                continue
            timeouts += failure.kind in {FailureKind.TIMEOUT, FailureKind.NOT_BEGUN}
            is_spent = attempt > policy.retries or timeouts > policy.timeout_retries
            is_last = is_spent or not failure.is_transient or not may_retry()
            error = explain(failure, attempt, is_last)
            if is_last:
                raise error from None
            wait = policy.wait_seconds(attempt - 1, failure.retry_after, chance)
        attempt += 1
        await asyncio.sleep(wait)
