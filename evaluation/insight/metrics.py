"""The figures of a simulation or of a stored game, by what they are about.

Source: ADR-010, ``SimulationMetrics``. What no event supplied is ``None``: a game without a memory system has not made
0 observations, it is not known to have made any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, ClassVar

import networkx as nx
from pydantic import ConfigDict, Field


@dataclass(frozen=True, slots=True)
class Centrality:
    """The centrality of one player in the graph.

    Attributes:
        degree: Neighbours in either direction over all other players, 0 to 1.
        in_degree: Players who address this one, over all other players; ``degree`` where edges have no direction.
        out_degree: Players whom this one addresses, over all other players.
        betweenness: The share of shortest paths between others that lead through this player, 0 to 1.
    """

    degree: float
    in_degree: float
    out_degree: float
    betweenness: float


@dataclass(frozen=True, slots=True)
class NetworkMetrics:
    """The graph in numbers. ``None`` where a figure does not exist for this graph; never a 0 in its place.

    Attributes:
        nodes: How many players.
        edges: How many pairs (ordered where the graph is directed) of whom one addresses the other.
        density: Edges over possible edges, 0 to 1; ``None`` below two players.
        reciprocity: The share of directed edges that are returned; ``None`` for graphs without direction or edges.
        is_connected: Whether everybody is linked to everybody, directions aside; ``None`` without players.
        components: How many parts are not linked to each other.
        measured_nodes: How many players the largest part has: path length and diameter are measured on it.
        clustering_coefficient: Mean over players of the share of their neighbours who are linked, directions aside.
        avg_path_length: Mean number of steps between two players of the largest part, directions aside; ``None`` when
            that part is a single player.
        diameter: The largest number of steps there.
        degree_distribution: Number of edges of each player, in and out together.
        centrality: By player.
    """

    nodes: int
    edges: int
    density: float | None
    reciprocity: float | None
    is_connected: bool | None
    components: int
    measured_nodes: int
    clustering_coefficient: float | None
    avg_path_length: float | None
    diameter: int | None
    degree_distribution: Mapping[str, int]
    centrality: Mapping[str, Centrality]


def interaction_graph(players: Iterable[str], counts: Mapping[tuple[str, str], int]) -> nx.DiGraph[str]:
    """A directed graph: every player a node, an edge where one addressed the other, ``weight`` how many messages did.

    Nobody is thought to address themselves. Who is counted but is not a player becomes a node too.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(players)
    for (sender, receiver), count in counts.items():
        if sender != receiver and count > 0:
            graph.add_edge(sender, receiver, weight=count)
    return graph


def network_metrics(graph: nx.Graph[str]) -> NetworkMetrics:
    """Every metric of ``graph``, directed or not, connected or not, empty or not. Self-loops are left out.

    Distances ignore direction and weight: two players are one step apart when either addressed the other.
    """
    graph = _without_loops(graph)
    undirected = graph.to_undirected()
    parts = sorted(nx.connected_components(undirected), key=lambda part: (-len(part), min(map(str, part))))
    largest = undirected.subgraph(parts[0]) if parts else undirected
    has_paths = len(largest) > 1
    return NetworkMetrics(
        nodes=len(graph),
        edges=graph.number_of_edges(),
        density=nx.density(graph) if len(graph) > 1 else None,
        reciprocity=nx.overall_reciprocity(graph) if graph.is_directed() and graph.number_of_edges() else None,
        is_connected=len(parts) == 1 if parts else None,
        components=len(parts),
        measured_nodes=len(largest),
        clustering_coefficient=nx.average_clustering(undirected) if len(graph) else None,
        avg_path_length=nx.average_shortest_path_length(largest) if has_paths else None,
        diameter=nx.diameter(largest) if has_paths else None,
        degree_distribution=dict(graph.degree()),
        centrality=_centrality(graph),
    )


def _without_loops(graph: nx.Graph[str]) -> nx.Graph[str]:
    loops = list(nx.selfloop_edges(graph))
    if not loops:
        return graph
    copy = graph.copy()
    copy.remove_edges_from(loops)
    return copy


def _centrality(graph: nx.Graph[str]) -> dict[str, Centrality]:
    undirected = graph.to_undirected()
    degree = nx.degree_centrality(undirected)
    # Typed loosely: the two functions exist for directed graphs only.
    directed: Any = graph
    ins = nx.in_degree_centrality(directed) if graph.is_directed() else degree
    outs = nx.out_degree_centrality(directed) if graph.is_directed() else degree
    betweenness = nx.betweenness_centrality(graph)
    return {node: Centrality(degree[node], ins[node], outs[node], betweenness[node]) for node in graph}


_Count = Annotated[int, Field(strict=True, ge=0, le=10**12)]
_PerAgent = dict[Annotated[str, Field(min_length=1, max_length=200)], _Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationCounts:
    """Memory and calls of a simulation, as a game keeps them; ``None`` where nothing was counted.

    Attributes:
        observations_per_agent: Observations remembered, by agent; ``None`` when no memory event came.
        reflections_per_agent: Reflections remembered, by agent.
        total_reflections: Their sum.
        avg_memory_importance: Mean importance over observations and reflections that have one; ``None`` without any.
        retrieval_calls: How often memory was searched; ``None`` when no search was reported.
        retrievals_per_agent: Searches by agent.
        retrieval_hit_rate: The share of searches that found something, 0 to 1.
        total_tokens: Tokens of all model calls; ``None`` when no call was reported.
        tokens_per_agent: Tokens by agent, as far as calls name one.
        api_calls: How many calls.
        calls_per_agent: Calls by agent, as far as they name one.
        estimated_cost_usd: Sum of the known prices; ``None`` when no price is known.
        unpriced_calls: Calls whose price is not known and is not in the sum.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    observations_per_agent: _PerAgent | None = None
    reflections_per_agent: _PerAgent | None = None
    total_reflections: _Count | None = None
    avg_memory_importance: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    retrieval_calls: _Count | None = None
    retrievals_per_agent: _PerAgent | None = None
    retrieval_hit_rate: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    total_tokens: _Count | None = None
    tokens_per_agent: _PerAgent | None = None
    api_calls: _Count | None = None
    calls_per_agent: _PerAgent | None = None
    estimated_cost_usd: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    unpriced_calls: _Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationMetrics(SimulationCounts):
    """A snapshot: the counts, and what was said to whom.

    Attributes:
        total_messages: How many messages were sent to others.
        messages_per_agent: By sender.
        avg_response_length: Mean length of all messages in characters; ``None`` without messages.
        interaction_matrix: (sender, receiver) to the number of messages by which the one addressed the other.
        thoughts_per_agent: What nobody else could hear, by agent: thoughts, goals, "done". In no other figure.
        network: The graph of who addresses whom; ``None`` when no message came.
    """

    total_messages: int = 0
    messages_per_agent: Mapping[str, int] = field(default_factory=dict)
    avg_response_length: float | None = None
    interaction_matrix: Mapping[tuple[str, str], int] = field(default_factory=dict)
    thoughts_per_agent: Mapping[str, int] = field(default_factory=dict)
    network: NetworkMetrics | None = None

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON, grouped as behavioral, memory, network and cost; nothing is left out."""
        counts = [one.name for one in fields(SimulationCounts)]
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
            "memory": self._part(*counts[: counts.index("total_tokens")]),
            "network": asdict(self.network) if self.network else None,
            "cost": self._part(*counts[counts.index("total_tokens") :]),
        }

    def _part(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}
