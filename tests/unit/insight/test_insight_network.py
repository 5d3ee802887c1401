"""The metrics of graphs against networkx itself, and by hand on small ones."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from evaluation.insight.metrics import interaction_graph, network_metrics


def graphs() -> list[nx.Graph]:
    """A hundred random graphs: half directed, many in several parts, some empty, some without edges."""
    chance = random.Random(7)
    found = []
    for number in range(100):
        nodes, density = chance.randrange(0, 13), chance.choice([0.0, 0.05, 0.15, 0.4, 0.9])
        graph = nx.gnp_random_graph(nodes, density, seed=number, directed=number % 2 == 0)
        found.append(nx.relabel_nodes(graph, {node: f"P{node}" for node in graph}))
    return found


@pytest.mark.parametrize("number", range(100))
def test_every_metric_is_that_of_networkx(number: int) -> None:
    graph = graphs()[number]
    found = network_metrics(graph)
    undirected = nx.Graph(graph)
    assert (found.nodes, found.edges) == (len(graph), graph.number_of_edges())
    assert found.degree_distribution == dict(graph.degree())
    assert found.components == nx.number_connected_components(undirected)
    if not len(graph):
        assert found.is_connected is found.clustering_coefficient is found.avg_path_length is found.diameter is None
        assert found.centrality == {}
        return
    assert found.is_connected == nx.is_connected(undirected)
    assert found.clustering_coefficient == pytest.approx(nx.average_clustering(undirected))
    sizes = {len(part) for part in nx.connected_components(undirected)}
    assert found.measured_nodes == max(sizes)
    largest = [undirected.subgraph(part) for part in nx.connected_components(undirected) if len(part) == max(sizes)]
    if max(sizes) == 1:
        assert found.avg_path_length is found.diameter is None
    else:
        # Of several parts of the same size one is taken.
        assert found.diameter in {nx.diameter(part) for part in largest}
        assert found.avg_path_length in {nx.average_shortest_path_length(part) for part in largest}
    assert_centrality(graph, undirected, found)


def assert_centrality(graph: nx.Graph, undirected: nx.Graph, found: object) -> None:
    expected = {
        "degree": nx.degree_centrality(undirected),
        "in_degree": nx.in_degree_centrality(graph) if graph.is_directed() else nx.degree_centrality(graph),
        "out_degree": nx.out_degree_centrality(graph) if graph.is_directed() else nx.degree_centrality(graph),
        "betweenness": nx.betweenness_centrality(graph),
    }
    for name, values in expected.items():
        got = {node: getattr(one, name) for node, one in found.centrality.items()}  # type: ignore[attr-defined]
        assert got == pytest.approx(values), name


def test_a_directed_chain_has_a_diameter() -> None:
    # A addresses B, B addresses C twice: nobody answers, yet from A to C it is two steps.
    graph = interaction_graph(["A", "B", "C"], {("A", "B"): 1, ("B", "C"): 2})
    found = network_metrics(graph)
    assert (found.diameter, found.avg_path_length) == (2, pytest.approx(4 / 3))
    assert (found.density, found.reciprocity) == (2 / 6, 0)
    assert found.centrality["B"].betweenness == 1 / 2, "one of the two ordered pairs that a directed graph has"


def test_whoever_speaks_to_themselves_or_to_nobody() -> None:
    graph = interaction_graph(["A", "B"], {("A", "A"): 3, ("A", "B"): 0})
    found = network_metrics(graph)
    assert (found.nodes, found.edges, found.components, found.is_connected) == (2, 0, 2, False)
    loop: nx.Graph[str] = nx.Graph([("A", "A"), ("A", "B")])
    assert network_metrics(loop).edges == 1
    assert loop.number_of_edges() == 2, "the graph that was handed in stays as it was"
