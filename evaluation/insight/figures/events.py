"""Events of a simulation that the insight metrics count.

Source: ADR-010, "Metrics Collector".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MemoryType = Literal["observation", "reflection"]


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """A message was sent. ``receivers`` are those it addresses, each once; empty when it speaks to nobody by name."""

    sender: str
    content: str
    receivers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An agent remembered something. ``importance`` is on the memory system's own scale, ``None`` where it has none."""

    agent_id: str
    memory_type: MemoryType
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class RetrievalEvent:
    """An agent searched its memory and found ``results_count`` entries."""

    agent_id: str
    results_count: int


@dataclass(frozen=True, slots=True)
class LLMCallEvent:
    """A model was asked. ``estimated_cost`` is in US dollars, ``None`` where the model's price is not known."""

    tokens: int
    estimated_cost: float | None = None
    agent_id: str | None = None


Event = MessageEvent | MemoryEvent | RetrievalEvent | LLMCallEvent
