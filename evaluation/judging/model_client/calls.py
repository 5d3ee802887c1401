"""Calls to models: requests, responses, usage and prices of tokens, and the stored record of each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan
from typing import Protocol


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
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
            self.calls + other.calls,
            self.unpriced_calls + other.unpriced_calls,
        )

    def share(self, parts: int) -> Usage:
        """One of ``parts`` equal shares: what one judgement of a batch used."""
        return Usage(
            self.input_tokens / parts,
            self.cached_tokens / parts,
            self.output_tokens / parts,
            self.cost_usd / parts,
            self.calls / parts,
            self.unpriced_calls / parts,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per token: read, read from the provider's cache, written."""

    input: float
    cached: float
    output: float

    def cost(self, input_tokens: float, cached_tokens: float, output_tokens: float) -> float:
        """The cost of these tokens; cached ones are among the ``input_tokens``."""
        cached = min(cached_tokens, input_tokens)
        return (input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output


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
