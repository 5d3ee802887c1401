"""Figures of discussions: events, counts, shares of talk and networks."""

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import networkx as nx
import pytest

from evaluation.errors import InputError
from evaluation.insight.collector import (
    COUNTS_KEY,
    LLMCallEvent,
    MemoryEvent,
    MessageEvent,
    MetricsCollector,
    RetrievalEvent,
    talk_shares,
    transcript_metrics,
)
from evaluation.insight.evaluation_report import plain_report
from evaluation.insight.metrics import NetworkMetrics, interaction_graph, network_metrics
from evaluation.insight.recommendations import agent_rows
from evaluation.transcript import Transcript
from tests.games import game_of


def test_every_kind_of_event() -> None:
    async def feed(collector: MetricsCollector) -> None:
        await collector.on_message(MessageEvent("A", "four", ("B",)))
        await collector.on_message(MessageEvent("A", "sixsix", ("B", "C", "B")))
        await collector.on_message(MessageEvent("B", "ok"))
        await collector.on_memory_added(MemoryEvent("A", "observation", 2))
        await collector.on_memory_added(MemoryEvent("A", "reflection", 5))
        await collector.on_memory_added(MemoryEvent("B", "observation", 8))
        for results in (0, 3):
            await collector.on_memory_retrieval(RetrievalEvent("A", results))
        await collector.on_llm_call(LLMCallEvent(100, 0.25, "A"))
        await collector.on_llm_call(LLMCallEvent(50, None, None))

    collector = MetricsCollector(["A", "B", "C", "D"])
    asyncio.run(feed(collector))
    found = collector.get_metrics()
    assert found.messages_per_agent == {"A": 2, "B": 1}
    assert found.avg_response_length == 4, "(4 + 6 + 2) / 3"
    assert found.interaction_matrix == {("A", "B"): 2, ("A", "C"): 1}
    assert found.observations_per_agent == {"A": 1, "B": 1}
    assert (found.reflections_per_agent, found.total_reflections) == ({"A": 1}, 1)
    assert found.avg_memory_importance == 5
    assert (found.retrieval_calls, found.retrieval_hit_rate) == (2, 0.5)
    assert (found.total_tokens, found.api_calls, found.tokens_per_agent) == (150, 2, {"A": 100})
    assert (found.estimated_cost_usd, found.unpriced_calls) == (0.25, 1)
    assert found.network is not None
    assert (found.network.nodes, found.network.components) == (4, 2)
    collector.reset()
    assert collector.get_metrics().total_messages == 0
    assert found.total_messages == 3, "a snapshot does not change"


def test_what_no_event_supplies_is_unknown_and_never_zero() -> None:
    collector = MetricsCollector(["A"])
    collector.add(MessageEvent("A", "hello"))
    found = collector.get_metrics().as_dict()
    assert set(found["memory"].values()) == {None}
    assert set(found["cost"].values()) == {None}
    empty = MetricsCollector().get_metrics()
    assert empty.avg_response_length is empty.network is None


def test_nothing_is_left_out_of_the_export() -> None:
    collector = MetricsCollector(["A", "B"])
    collector.add(MessageEvent("A", "B, hello", ("B",)))
    metrics = collector.get_metrics()
    exported = metrics.as_dict()
    names = {name for part in ("behavioral", "memory", "cost") for name in exported[part]} | {"network"}
    assert names == {each.name for each in fields(metrics)}
    assert set(exported["network"]) == set(NetworkMetrics.__dataclass_fields__)
    assert json.loads(json.dumps(exported))["behavioral"]["interaction_matrix"] == [
        {"sender": "A", "receiver": "B", "messages": 1}
    ]


def counted_game(**changes: Any) -> Transcript:
    return game_of([("Ann", "Tea."), ("Ben", "Tea.")], **changes)


def test_counts_in_the_metadata_are_shown_and_events_go_before_them() -> None:
    counts = {
        "observations_per_agent": {"Ann": 5},
        "retrieval_calls": 4,
        "retrievals_per_agent": {"Ann": 4},
        "api_calls": 7,
        "calls_per_agent": {"Ann": 7},
        "tokens_per_agent": {"Ann": 1234},
    }
    stored = Transcript.from_json(counted_game(metadata={COUNTS_KEY: counts}).to_json())
    found = plain_report(stored).metrics
    assert (found.observations_per_agent, found.retrieval_calls, found.api_calls) == ({"Ann": 5}, 4, 7)
    assert found.total_reflections is None
    assert agent_rows(found)[0][1:] == ("5", "not known", "4", "7", "1,234")


@pytest.mark.parametrize(
    ("counts", "place"),
    [
        ({"api_calls": -1}, "api_calls"),
        ({"calls": 1}, "calls"),
        ("many", "the object"),
        ({"tokens_per_agent": {"Ann": "x"}}, "tokens_per_agent.Ann"),
    ],
)
def test_counts_that_are_wrong_are_refused_with_their_place(counts: Any, place: str) -> None:
    with pytest.raises(InputError, match=rf"metadata\.{COUNTS_KEY}: .*{place}"):
        transcript_metrics(counted_game(metadata=json.loads(json.dumps({COUNTS_KEY: counts}))))


def graphs() -> Iterator[nx.Graph]:
    """A hundred random graphs: half directed, many in several parts, some empty, some without edges."""
    chance = random.Random(7)
    for number in range(100):
        nodes, density = chance.randrange(0, 13), chance.choice([0.0, 0.05, 0.15, 0.4, 0.9])
        graph = nx.gnp_random_graph(nodes, density, seed=number, directed=number % 2 == 0)
        yield nx.relabel_nodes(graph, {node: f"P{node}" for node in graph})


@pytest.mark.parametrize("graph", list(graphs()), ids=range(100))
def test_every_metric_is_that_of_networkx(graph: nx.Graph) -> None:
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
    degrees = nx.degree_centrality(undirected)
    expected = {
        "degree": degrees,
        "in_degree": nx.in_degree_centrality(graph) if graph.is_directed() else degrees,
        "out_degree": nx.out_degree_centrality(graph) if graph.is_directed() else degrees,
        "betweenness": nx.betweenness_centrality(graph),
    }
    for name, values in expected.items():
        assert {node: getattr(one, name) for node, one in found.centrality.items()} == pytest.approx(values), name


def test_a_directed_chain_has_a_diameter() -> None:
    # A addresses B, B addresses C twice: nobody answers, yet from A to C it is two steps.
    graph = interaction_graph(["A", "B", "C"], {("A", "B"): 1, ("B", "C"): 2})
    found = network_metrics(graph)
    assert (found.diameter, found.avg_path_length) == (2, pytest.approx(4 / 3))
    assert (found.density, found.reciprocity) == (2 / 6, 0)
    assert found.centrality["B"].betweenness == 1 / 2, "one of the two ordered pairs that a directed graph has"


def game(*said: tuple[str, str, str, int], players: str = "ABC", **more: Any) -> Transcript:
    lines = [(who, text, {"channel": channel, "round": number}) for who, text, channel, number in said]
    return game_of(lines, tuple(players), language="en", source_format="native", **more)


TALK = game(
    ("A", "one two three", "public", 1),
    ("A", "four", "public", 1),
    ("B", "B, C: five six", "team", 1),
    ("A", "B, seven", "public", 2),
)


def test_words_and_turns_by_hand() -> None:
    found = talk_shares(TALK)
    # A says 3 + 1 + 2 words in two turns, B 4 in one, C nothing.
    assert (found.words, found.turns) == ({"A": 6, "B": 4, "C": 0}, {"A": 2, "B": 1, "C": 0})
    assert found.share_of_words("A") == 0.6
    assert found.domination("A") == pytest.approx(1.8)
    assert found.most_talkative == (["A"], 1.8)
    # 100 and 99 of 199 words: the same as far as the figure shows; nobody without a word.
    assert replace(found, words={"A": 100, "B": 99}).most_talkative == (["A", "B"], 1.0)
    assert replace(found, words={"A": 0, "B": 0}).most_talkative == ([], 0.0)


def test_twice_an_even_share_is_domination_in_larger_groups() -> None:
    others = tuple((name, "w w w", "public", 1) for name in "BCDE")
    quiet = game(("A", "one two three four five", "public", 1), *others, players="ABCDE")
    assert not any("even share" in one for one in plain_report(quiet).recommendations)
    loud = game(("A", "w " * 11, "public", 1), *others, players="ABCDE")
    # 11 of 23 words, five players: 2.4 times an even share.
    advice = plain_report(loud).recommendations
    assert "A says 48% of the words, 2.4 times an even share: let the others have their turn." in advice


class Wrapped:
    """A graph as ADR-010's topologies hold it."""

    def __init__(self, graph: Any, directed: bool) -> None:
        self.graph, self._directed = graph, directed


def test_an_object_that_holds_a_graph_is_measured_like_the_graph() -> None:
    edges = [("a", "b"), ("b", "c")]
    for graph, directed in ((nx.Graph(edges), False), (nx.DiGraph(edges), True), (nx.DiGraph(edges), False)):
        plain, wrapped = MetricsCollector(), MetricsCollector()
        plain.compute_network_metrics(graph if directed else graph.to_undirected())
        wrapped.compute_network_metrics(Wrapped(graph, directed))
        assert wrapped.get_metrics() == plain.get_metrics()
    with pytest.raises(InputError, match="dict holds no graph"):
        MetricsCollector().compute_network_metrics({})  # type: ignore[arg-type]
