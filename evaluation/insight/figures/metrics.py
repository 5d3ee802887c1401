"""The figures of a simulation or of a stored game, by what they are about.

Source: ADR-010, ``SimulationMetrics``. What no event supplied is ``None``: a game without a memory system has not made
0 observations, it is not known to have made any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evaluation.insight.figures._network import NetworkMetrics

MEMORY_FIELDS = (
    "observations_per_agent",
    "reflections_per_agent",
    "total_reflections",
    "avg_memory_importance",
    "retrieval_calls",
    "retrievals_per_agent",
    "retrieval_hit_rate",
)


@dataclass(frozen=True, slots=True)
class SimulationMetrics:
    """A snapshot.

    Attributes:
        total_messages: How many messages were sent to others.
        messages_per_agent: By sender.
        avg_response_length: Mean length of all messages in characters; ``None`` without messages.
        interaction_matrix: (sender, receiver) to the number of messages by which the one addressed the other.
        thoughts_per_agent: What nobody else could hear, by agent: thoughts, goals, "done". In no other figure.
        observations_per_agent: Observations remembered, by agent; ``None`` when no memory event came.
        reflections_per_agent: Reflections remembered, by agent.
        total_reflections: Their sum.
        avg_memory_importance: Mean importance over observations and reflections that have one; ``None`` without any.
        retrieval_calls: How often memory was searched; ``None`` when no search was reported.
        retrievals_per_agent: Searches by agent.
        retrieval_hit_rate: The share of searches that found something, 0 to 1.
        network: The graph of who addresses whom; ``None`` when no message came.
        total_tokens: Tokens of all model calls; ``None`` when no call was reported.
        tokens_per_agent: Tokens by agent, as far as calls name one.
        api_calls: How many calls.
        calls_per_agent: Calls by agent, as far as they name one.
        estimated_cost_usd: Sum of the known prices; ``None`` when no price is known.
        unpriced_calls: Calls whose price is not known and is not in the sum.
    """

    total_messages: int = 0
    messages_per_agent: Mapping[str, int] = field(default_factory=dict)
    avg_response_length: float | None = None
    interaction_matrix: Mapping[tuple[str, str], int] = field(default_factory=dict)
    thoughts_per_agent: Mapping[str, int] = field(default_factory=dict)
    observations_per_agent: Mapping[str, int] | None = None
    reflections_per_agent: Mapping[str, int] | None = None
    total_reflections: int | None = None
    avg_memory_importance: float | None = None
    retrieval_calls: int | None = None
    retrievals_per_agent: Mapping[str, int] | None = None
    retrieval_hit_rate: float | None = None
    network: NetworkMetrics | None = None
    total_tokens: int | None = None
    tokens_per_agent: Mapping[str, int] | None = None
    api_calls: int | None = None
    calls_per_agent: Mapping[str, int] | None = None
    estimated_cost_usd: float | None = None
    unpriced_calls: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON, grouped as behavioral, memory, network and cost; nothing is left out."""
        pairs = [
            {"sender": sender, "receiver": receiver, "messages": count}
            for (sender, receiver), count in self.interaction_matrix.items()
        ]
        return {
            "behavioral": {
                **self._part("total_messages", "messages_per_agent", "avg_response_length"),
                "interaction_matrix": pairs,
                **self._part("thoughts_per_agent"),
            },
            "memory": self._part(*MEMORY_FIELDS),
            "network": asdict(self.network) if self.network else None,
            "cost": self._part(
                "total_tokens",
                "tokens_per_agent",
                "api_calls",
                "calls_per_agent",
                "estimated_cost_usd",
                "unpriced_calls",
            ),
        }

    def _part(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}
