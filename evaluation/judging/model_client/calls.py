"""Calls to models: requests, responses, and the stored record of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan
from typing import Protocol

from evaluation.judging.model_client.usage import Price, Usage

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
        tokens_used: Tokens read and written.
        model: The model that answered, as the provider names it.
        latency_ms: From sending to the whole answer, without earlier tries.
        usage: Tokens and cost, those of failed tries included.
        is_cut_off: Whether it stopped because ``max_tokens`` were written.
        raw: What it wrote with its reasoning in tags, which ``content`` leaves out.
        parameters: The parameters that the call was made with, under the names that the server takes.
    """

    content: str
    tokens_used: int
    model: str
    latency_ms: float
    usage: Usage = field(default_factory=Usage)
    is_cut_off: bool = False
    raw: str = ""
    parameters: CallParameters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Completion:
    """A provider's response to one call; tokens are 0 where it does not report them.

    What a server says of tokens is bounded: negative ones would fill a budget up again. ``raw`` is what the model
    wrote with its reasoning in tags, ``parameters`` what the call was made with.
    """

    content: str
    model: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    is_cut_off: bool = False
    raw: str = ""
    parameters: CallParameters = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("input_tokens", "cached_tokens", "output_tokens"):
            object.__setattr__(self, name, _plausible(getattr(self, name)))


def _plausible(tokens: object) -> int:
    """``tokens`` as a whole number from 0 to ``MOST_TOKENS``; 0 for what is not a number."""
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
    ) -> Completion:
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
