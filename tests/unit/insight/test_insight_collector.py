"""The figures of simulations and stored games, worked out by hand."""

from __future__ import annotations

import asyncio
import json

import pytest

from evaluation.insight.addressing import transcript_metrics
from evaluation.insight.collector import LLMCallEvent, MemoryEvent, MessageEvent, MetricsCollector, RetrievalEvent
from evaluation.transcript import Cost, Message, Player, Transcript


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
    assert names == set(type(metrics).__dataclass_fields__)
    assert json.loads(json.dumps(exported))["behavioral"]["interaction_matrix"] == [
        {"sender": "A", "receiver": "B", "messages": 1}
    ]


def game() -> Transcript:
    said = [
        ("Ada", "Hello all.", "public", (), None),
        ("Bob", "Ada and Cy, who do you trust? Ada?", "public", (), None),
        ("Ada", "Not you.", "public", (), "m1"),
        ("Bob", "It is us two.", "private", ("Cy",), None),
        ("Narrator", "Ada dies.", "system", (), None),
        ("Cy", "Skip", "public", (), None),
    ]
    messages = tuple(
        Message(id=f"m{i}", index=i, speaker=who, text=text, channel=channel, recipients=to, reply_to=reply)
        for i, (who, text, channel, to, reply) in enumerate(said)
    )
    players = tuple(Player(name=name) for name in ("Ada", "Bob", "Cy", "Dee"))
    cost = Cost(total_usd=0.5, input_tokens=900, output_tokens=100)
    return Transcript(game_id="g", source_format="native", players=players, messages=messages, cost=cost)


def test_the_figures_of_a_stored_game() -> None:
    found = transcript_metrics(game())
    assert found.total_messages == 4
    assert found.interaction_matrix == {("Bob", "Ada"): 1, ("Bob", "Cy"): 2, ("Ada", "Bob"): 1}
    assert found.network is not None
    assert (found.network.nodes, found.network.reciprocity) == (4, pytest.approx(2 / 3))
    assert (found.total_tokens, found.estimated_cost_usd, found.api_calls) == (1000, 0.5, None)
    assert found.observations_per_agent is None
