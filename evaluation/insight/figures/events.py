"""Events of a simulation that the insight metrics count.

Source: ADR-010, "Metrics Collector".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from evaluation.errors import InputError

MemoryType = Literal["observation", "reflection"]


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """A message was sent. ``receivers`` are those it addresses, each once; empty when it speaks to nobody by name.

    A single receiver may be given as a string.
    """

    sender: str
    content: str
    receivers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.receivers, str):
            # A string is a sequence too: without this, "Ben" would be three receivers.
            object.__setattr__(self, "receivers", (self.receivers,) if self.receivers else ())


@dataclass(frozen=True, slots=True)
class ThoughtEvent:
    """An agent wrote something that nobody else could hear; it is counted apart from messages."""

    agent_id: str


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An agent remembered something. ``importance`` is on the memory system's own scale, ``None`` where it has none.

    Raises:
        InputError: The importance is not a finite number, or the type is neither "observation" nor "reflection".
    """

    agent_id: str
    memory_type: MemoryType
    importance: float | None = None

    def __post_init__(self) -> None:
        if self.memory_type not in get_args(MemoryType):
            raise InputError(
                f"There is no memory type {self.memory_type!r}.", remedy='Take "observation" or "reflection".'
            )
        _check_number("importance", self.importance, -math.inf)


@dataclass(frozen=True, slots=True)
class RetrievalEvent:
    """An agent searched its memory and found ``results_count`` entries."""

    agent_id: str
    results_count: int

    def __post_init__(self) -> None:
        _check_number("results_count", self.results_count)


@dataclass(frozen=True, slots=True)
class LLMCallEvent:
    """A model was asked. ``estimated_cost`` is in US dollars, ``None`` where the model's price is not known."""

    tokens: int
    estimated_cost: float | None = None
    agent_id: str | None = None

    def __post_init__(self) -> None:
        _check_number("tokens", self.tokens)
        _check_number("estimated_cost", self.estimated_cost)


def _check_number(name: str, value: float | None, least: float = 0.0) -> None:
    if value is not None and not (math.isfinite(value) and value >= least):
        need = "a finite number" if least < 0 else "0 or more"
        raise InputError(f"The {name} {value} of an event is not {need}.", remedy="Leave out what is not known.")


Event = MessageEvent | ThoughtEvent | MemoryEvent | RetrievalEvent | LLMCallEvent
