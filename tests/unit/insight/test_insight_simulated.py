"""What simulating a conversation took, and what its agents remembered, as insights tell."""

from __future__ import annotations

import asyncio

from evaluation.insight.collector import MetricsCollector
from evaluation.insight.evaluation_report import plain_report
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.simulation.environment import Environment, RoomPlan
from evaluation.simulation.model_texts import Generation, Writer, speech_subject
from evaluation.simulation.scripted_world import ScriptedProvider, ScriptedWorld
from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript

ANN, BEN = "Ann: the cook", "Ben"


def conversation(**changes: object) -> Transcript:
    fields: dict[str, object] = {
        "game_id": "tea 1",
        "source_format": "simulation",
        "players": (Player(name=ANN), Player(name=BEN)),
        "messages": tuple(
            Message(id=f"m{at}", index=at, speaker=who, text="Tea.") for at, who in enumerate((ANN, BEN))
        ),
        "metadata": {"experiment": "e1"},
    }
    return Transcript.model_validate({**fields, **changes})


def text(number: int, room: str, agent: str, tokens: tuple[int, int], usd: float, scope: str = "e1") -> Generation:
    usage = Usage(tokens[0], 0, tokens[1], usd, 1)
    return Generation(f"{number:064}", scope, "m", "simulation", speech_subject(room, 1, agent), "Tea.", usage)


def test_an_experiments_conversation_shows_the_calls_that_wrote_it() -> None:
    store = Store(":memory:")
    texts = [
        text(1, "tea 1", ANN, (100, 20), 0.5),
        text(2, "tea 1", ANN, (200, 30), 0.25),
        text(3, "tea 1", BEN, (50, 5), 0.0),
        # Another room whose name begins alike, and another experiment.
        text(4, "tea 12", BEN, (1, 1), 1.0),
        text(5, "tea 1", BEN, (1, 1), 1.0, scope="e2"),
    ]
    store.generations.keep(texts)
    found = plain_report(conversation(), calls=store.generations.calls_for(conversation())).metrics
    # 120 + 230 + 55 tokens; nobody knows what the last call cost.
    assert (found.api_calls, found.total_tokens, found.estimated_cost_usd, found.unpriced_calls) == (3, 405, 0.75, 1)
    assert found.tokens_per_agent == {ANN: 350, BEN: 55}
    for other in (conversation(metadata={}), conversation(source_format="native"), conversation(game_id="te")):
        assert store.generations.calls_for(other) == []
    assert plain_report(conversation()).metrics.api_calls is None


def test_a_room_tells_what_its_agents_remember_and_find() -> None:
    collector = MetricsCollector()
    people = [{"name": "Ann Lee"}, {"name": "Ben Ode"}]
    plan = RoomPlan("Kitchen", 2, facilitator={1: "What shall we cook?"})

    async def run() -> None:
        await Environment(plan, people, Writer(LLMClient(ScriptedProvider(ScriptedWorld()))), note=collector.add).run()

    asyncio.run(run())
    found = collector.get_metrics()
    # The facilitator once and two agents twice, heard by both; each is asked twice and finds something each time.
    assert found.observations_per_agent == {"Ann Lee": 5, "Ben Ode": 5}
    assert (found.total_reflections, found.avg_memory_importance) == (0, None)
    assert (found.retrieval_calls, found.retrieval_hit_rate) == (4, 1.0)
