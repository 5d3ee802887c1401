"""One call to a model: request, response, usage, price, record, the kinds of failure, and retries."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from math import isnan
from typing import Protocol

from evaluation.judging.model_client.prices import Price


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, money and calls; sums add up field by field.

    Attributes:
        input_tokens: Tokens read, those from the provider's cache included.
        cached_tokens: Those of them that the provider had in its cache.
        output_tokens: Tokens written.
        cost_usd: In US dollars; what has no known price counts as nothing.
        calls: Calls to a provider, failed ones included.
        unpriced_calls: Answered calls whose price is not known.
    """

    input_tokens: float = 0
    cached_tokens: float = 0
    output_tokens: float = 0
    cost_usd: float = 0.0
    calls: float = 0
    unpriced_calls: float = 0

    @property
    def known_usd(self) -> float | None:
        """``cost_usd``, or ``None`` when calls were answered and no price is known."""
        return None if self.unpriced_calls and not self.cost_usd else self.cost_usd

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def share(self, parts: int) -> Usage:
        """One of ``parts`` equal shares: what one judgement of a batch used."""
        return Usage(*(value / parts for value in astuple(self)))


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of all; zero when there are none."""
    return sum(usages, Usage())


Messages = Sequence[Mapping[str, str]]
"""A conversation: ``{"role": "system" | "user" | "assistant", "content": text}``, oldest first."""

CallParameters = Mapping[str, float | int]
"""The parameters of a call by the name that the server takes (``temperature``, ``max_completion_tokens``)."""

ANSWERED = "answered"
CANCELLED = "cancelled"

MOST_TOKENS = 10_000_000
"""Read or written in one call: the longest context of any model. A server that claims more has lost count."""


@dataclass(frozen=True, slots=True)
class LLMResponse:
    """A model's answer (ADR-010, LLM interface wrapper).

    Attributes:
        content: What it wrote.
        model: The model that answered, as the provider names it.
        usage: Tokens and cost, those of failed tries included. A provider knows the tokens only.
        is_cut_off: Whether it stopped because ``max_tokens`` were written.
        raw: What it wrote with its reasoning in tags, which ``content`` leaves out; empty where that is the same.
        parameters: The parameters that the call was made with, under the names that the server takes.
        latency_ms: From sending to the whole answer, without earlier tries.
    """

    content: str
    model: str
    usage: Usage = field(default_factory=Usage)
    is_cut_off: bool = False
    raw: str = ""
    parameters: CallParameters = field(default_factory=dict)
    latency_ms: float = 0.0

    @property
    def tokens_used(self) -> int:
        """Tokens read and written."""
        return int(self.usage.input_tokens + self.usage.output_tokens)


def plausible_tokens(tokens: object) -> int:
    """A server's count of tokens as a whole number from 0 to ``MOST_TOKENS``; 0 for what is not a number.

    Negative ones would fill a budget up again.
    """
    if isinstance(tokens, bool) or not isinstance(tokens, int | float) or isnan(tokens):
        return 0
    return int(min(max(tokens, 0), MOST_TOKENS))


class Provider(Protocol):
    """Sends one conversation to a model: the seam at which tests and simulations put their own."""

    @property
    def model(self) -> str:
        """The model's name, as judgements and calls are filed under."""
        ...

    def session(self) -> AbstractAsyncContextManager[None]:
        """Keeps connections open from call to call."""
        ...

    async def complete(
        self, messages: Messages, *, temperature: float, max_tokens: int, timeout_seconds: float
    ) -> LLMResponse:
        """The model's answer to ``messages``; given up when the server is silent for ``timeout_seconds``.

        Raises:
            CallFailure: There is none.
        """
        ...

    async def price(self) -> Price | None:
        """The price of the model's tokens; ``None`` when it is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call to a model, as it is logged. No key and no prompt is in it.

    Attributes:
        purpose: What it was for: "adherence", "coherence", ...
        model: The model that was asked.
        attempt: 1 for the first try of a question, 2 for the next, ...
        outcome: ``answered``, ``cancelled`` where nobody waited any longer, or the kind of failure.
        error: What went wrong, in words; empty when answered.
        input_tokens: Tokens read.
        cached_tokens: Those of them from the provider's cache.
        output_tokens: Tokens written.
        cost_usd: ``None`` when the price is not known.
        seconds: How long it took.
        judgements: How many judgements were asked for at once.
        judgement_key: Key of the first of them.
        run_id: The evaluation run that it belongs to.
        started_at: When, in UTC.
    """

    purpose: str
    model: str
    attempt: int
    outcome: str
    started_at: datetime
    error: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    judgements: int = 1
    judgement_key: str | None = None
    run_id: str | None = None


CallLog = Callable[[CallRecord], None]
"""Told of every call, failed ones included, as soon as it ends."""


@dataclass(frozen=True, slots=True)
class CallPurpose:
    """The purpose of a call, as its record says."""

    purpose: str = ""
    judgements: int = 1
    judgement_key: str | None = None


OPENAI_PREFIX = "openai/"
"""Before a model's name: OpenAI's protocol. The price map lists these models without it."""


class FailureKind(StrEnum):
    """Why a call gave no answer."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    BROKEN_RESPONSE = "broken_response"
    REFUSED = "refused"
    PARAMETER_REFUSED = "parameter_refused"
    PROMPT_TOO_LONG = "prompt_too_long"
    TOKEN_LIMIT = "token_limit"
    FILTERED = "filtered"
    DECLINED = "declined"
    QUOTA_SPENT = "quota_spent"
    WRONG_KEY = "wrong_key"
    NOT_FOUND = "not_found"


ENDS_RUN = frozenset({FailureKind.QUOTA_SPENT, FailureKind.WRONG_KEY, FailureKind.NOT_FOUND})
"""What every other call of the run would meet, too."""

PERMANENT = ENDS_RUN | {
    FailureKind.REFUSED,
    FailureKind.PROMPT_TOO_LONG,
    FailureKind.TOKEN_LIMIT,
    FailureKind.FILTERED,
    FailureKind.DECLINED,
}
"""What the same call would only meet again."""


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
        longest_wait_seconds: Where the doubling ends, and the most that a provider's ``Retry-After`` is heeded.
    """

    retries: int = 5
    timeout_retries: int = 2
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 60.0

    def wait_seconds(self, retry: int, retry_after: float | None, chance: random.Random) -> float:
        """The wait before that retry (0 is the first): anything up to the back-off ("full jitter").

        With a ``Retry-After`` never less than that, and as much again of the first wait at most, so that not everybody
        comes back at once.
        """
        if retry_after is not None:
            return min(retry_after, self.longest_wait_seconds) + chance.uniform(0, self.first_wait_seconds)
        # Beyond a thousand doublings a float overflows; nobody waits that long.
        longest = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(retry, 64))
        return chance.uniform(0, longest)
