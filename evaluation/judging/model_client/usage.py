"""Usage of calls to models, and the price of tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
