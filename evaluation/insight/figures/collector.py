"""Collects the figures of a running simulation from its events.

Source: ADR-010, ``MetricsCollector``, with its running average of lengths corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evaluation.insight.figures._network import NetworkMetrics, interaction_graph, network_metrics
from evaluation.insight.figures.events import (
    Event,
    LLMCallEvent,
    MemoryEvent,
    MessageEvent,
    RetrievalEvent,
    ThoughtEvent,
)
from evaluation.insight.figures.metrics import SimulationMetrics

if TYPE_CHECKING:
    import networkx as nx


class MetricsCollector:
    """Counts events; ``get_metrics`` may be asked at any time.

    Args:
        players: Everybody who takes part, those too who never speak: they are nodes of the network.
    """

    def __init__(self, players: Iterable[str] = ()) -> None:
        self._players = tuple(dict.fromkeys(players))
        self._topology: NetworkMetrics | None = None
        self.reset()

    def compute_network_metrics(self, topology: nx.Graph[str]) -> None:
        """Measures this graph, of who can reach whom, in place of the one of who addresses whom.

        Args:
            topology: Directed or not, connected or not, empty or not. A later change of it does not count.
        """
        self._topology = network_metrics(topology)

    def reset(self) -> None:
        """Forgets every event and the topology, for the next run with the same players."""
        self._topology = None
        self._senders: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._thoughts: Counter[str] = Counter()
        self._characters = 0
        self._observations: Counter[str] = Counter()
        self._reflections: Counter[str] = Counter()
        self._importances: list[float] = []
        self._retrievals: Counter[str] = Counter()
        self._hits = 0
        self._tokens: Counter[str] = Counter()
        self._calls_by_agent: Counter[str] = Counter()
        self._calls = self._total_tokens = 0
        self._prices: list[float] = []

    def add(self, event: Event) -> None:
        """Counts one event."""
        match event:
            case MessageEvent():
                self._senders[event.sender] += 1
                self._characters += len(event.content)
                self._pairs.update((event.sender, receiver) for receiver in dict.fromkeys(event.receivers))
            case ThoughtEvent():
                self._thoughts[event.agent_id] += 1
            case MemoryEvent():
                if event.importance is not None:
                    self._importances.append(event.importance)
                (self._observations if event.memory_type == "observation" else self._reflections)[event.agent_id] += 1
            case RetrievalEvent():
                self._retrievals[event.agent_id] += 1
                self._hits += event.results_count > 0
            case LLMCallEvent():
                self._add_call(event)

    def _add_call(self, event: LLMCallEvent) -> None:
        self._calls += 1
        self._total_tokens += event.tokens
        if event.agent_id is not None:
            self._tokens[event.agent_id] += event.tokens
            self._calls_by_agent[event.agent_id] += 1
        if event.estimated_cost is not None:
            self._prices.append(event.estimated_cost)

    async def on_message(self, event: MessageEvent) -> None:
        """Counts a message, its length and whom it addresses; for an event bus that awaits its listeners."""
        self.add(event)

    async def on_memory_added(self, event: MemoryEvent) -> None:
        """Counts an observation or a reflection, apart from each other."""
        self.add(event)

    async def on_memory_retrieval(self, event: RetrievalEvent) -> None:
        """Counts a search and whether it found something."""
        self.add(event)

    async def on_llm_call(self, event: LLMCallEvent) -> None:
        """Counts a call, its tokens, and its price where that is known."""
        self.add(event)

    def get_metrics(self) -> SimulationMetrics:
        """A snapshot; later events do not change it."""
        memories = self._observations.total() + self._reflections.total()
        messages, searches = self._senders.total(), self._retrievals.total()
        return SimulationMetrics(
            total_messages=messages,
            messages_per_agent=dict(self._senders),
            avg_response_length=self._characters / messages if messages else None,
            interaction_matrix=dict(self._pairs),
            thoughts_per_agent=dict(self._thoughts),
            observations_per_agent=dict(self._observations) if memories else None,
            reflections_per_agent=dict(self._reflections) if memories else None,
            total_reflections=self._reflections.total() if memories else None,
            avg_memory_importance=sum(self._importances) / len(self._importances) if self._importances else None,
            retrieval_calls=searches or None,
            retrievals_per_agent=dict(self._retrievals) if searches else None,
            retrieval_hit_rate=self._hits / searches if searches else None,
            network=self._network(),
            total_tokens=self._total_tokens if self._calls else None,
            tokens_per_agent=dict(self._tokens) if self._calls else None,
            api_calls=self._calls or None,
            calls_per_agent=dict(self._calls_by_agent) if self._calls else None,
            estimated_cost_usd=sum(self._prices) if self._prices else None,
            unpriced_calls=self._calls - len(self._prices) if self._calls else None,
        )

    def _network(self) -> NetworkMetrics | None:
        if self._topology is not None or not self._senders:
            return self._topology
        return network_metrics(interaction_graph([*self._players, *self._senders], self._pairs))
