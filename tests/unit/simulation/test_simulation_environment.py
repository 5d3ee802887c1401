"""Rooms: the order of a step, who acts when, and thoughts that are used once."""

import asyncio
from typing import Any

import pytest

from evaluation.corrections.action_gate import ActionGate, MessageScore
from evaluation.corrections.config import CorrectionConfig
from evaluation.judging.answers import CheckAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.model_client.calls import LLMResponse
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.propositions import TrajectoryEvent
from evaluation.simulation.environment import (
    FEEDBACK_HEADING,
    NUDGE_HEADING,
    Environment,
    RoomPlan,
    SimulatedAgent,
    TurnOrder,
    acting_order,
    spoken,
)
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.scripted_world import Habits, ScriptedProvider, ScriptedWorld
from evaluation.transcript import Transcript

PEOPLE = [{"name": name, "style": "Blunt."} for name in ("Ann", "Ben", "Cid")]


class Listening(ScriptedProvider):
    """Says who speaks and how often it spoke, and keeps the prompts."""

    def __init__(self) -> None:
        super().__init__(ScriptedWorld())
        self.prompts: list[str] = []

    async def complete(self, messages: Any, **options: Any) -> LLMResponse:
        self.prompts.append(messages[1]["content"])
        name = messages[0]["content"].partition("You are ")[2].partition(",")[0]
        return LLMResponse(f"{name} speaks, number {len(self.prompts)}.", "x")


def run(plan: RoomPlan, provider: ScriptedProvider, concurrency: int = 4, **parts: Any) -> Transcript:
    async def talk() -> Transcript:
        writer = Writer(LLMClient(provider, concurrency=concurrency))
        return await Environment(plan, PEOPLE, writer, **parts).run()

    return asyncio.run(talk())


def test_a_step_has_the_facilitator_first_and_everybody_once() -> None:
    plan = RoomPlan("room", 2, facilitator={2: "Now about boats."})
    transcript = run(plan, Listening())
    assert [(m.round, m.speaker, m.channel) for m in transcript.messages] == [
        (1, "Ann", "public"),
        (1, "Ben", "public"),
        (1, "Cid", "public"),
        (2, "Facilitator", "system"),
        (2, "Ann", "public"),
        (2, "Ben", "public"),
        (2, "Cid", "public"),
    ]
    assert transcript.player("Ann").persona == {"name": "Ann", "style": "Blunt."}
    assert Transcript.from_json(transcript.to_json()) == transcript


def test_in_parallel_nobody_hears_the_step_and_in_turns_everybody_does() -> None:
    together, in_turn = Listening(), Listening()
    run(RoomPlan("room", 1), together)
    assert all("(nothing was said yet)" in prompt for prompt in together.prompts)
    run(RoomPlan("room", 1, TurnOrder.SEQUENTIAL_RANDOM), in_turn)
    assert [prompt.count(" speaks, number") for prompt in in_turn.prompts] == [0, 1, 2]


def test_turns_are_drawn_by_the_seed_and_alike_on_both_sides() -> None:
    def turns(room: str, seed: int) -> list[tuple[int, ...]]:
        plan = RoomPlan(room, 9, TurnOrder.SEQUENTIAL_RANDOM, seed=seed, metadata={"environment": 2})
        return [acting_order(plan, step, 5) for step in range(1, 10)]

    assert turns("treatment", 1) == turns("control", 1) != turns("treatment", 2)
    assert len(set(turns("treatment", 1))) > 1


def test_a_nudge_enters_one_prompt_and_no_memory() -> None:
    judge = ScriptedJudge(lambda _: CheckAnswer(reason="stale", holds=True, confidence=1))
    config = CorrectionConfig(variety_intervention_enabled=True, variety_message_threshold=1)
    provider = Listening()
    transcript = run(RoomPlan("room", 3, config=config, facilitator={2: "Boats."}), provider, judge=judge)
    # Interventions are looked at before the facilitator speaks.
    assert ["Boats." in request.prompt.user for request in judge.asked] == [False] * 3 + [True] * 3
    # Nobody has acted before step 1; later everybody has, and the judge always sees nothing new.
    nudged = [NUDGE_HEADING in prompt for prompt in provider.prompts]
    assert nudged[:3] == [False] * 3
    assert nudged[3:] == [True] * 6
    assert all(prompt.count(NUDGE_HEADING) <= 1 for prompt in provider.prompts)
    assert not any("Nothing new has been said" in message.text for message in transcript.messages)


def test_repetition_is_suppressed_before_an_agent_speaks() -> None:
    class Repeating(Listening):
        async def complete(self, messages: Any, **options: Any) -> LLMResponse:
            await super().complete(messages, **options)
            return LLMResponse("I think that it is so.", "x")

    provider = Repeating()
    run(RoomPlan("room", 3, config=CorrectionConfig(repetition_suppression_enabled=True)), provider)
    told = ['- "i think that"' in prompt for prompt in provider.prompts]
    assert told == [False] * 6 + [True] * 3


def test_the_gate_sends_a_message_back_with_its_reason() -> None:
    class Strict:
        async def check(self, dimension: str, text: str, context: Any) -> MessageScore:
            return MessageScore(2.0 if text.endswith("1.") else 8.0, "too dull")

    provider = Listening()
    config = CorrectionConfig(gate_adherence_enabled=True)
    transcript = run(
        RoomPlan("room", 1, TurnOrder.SEQUENTIAL_RANDOM, config=config), provider, gate=ActionGate(Strict())
    )
    assert len(provider.prompts) == 4
    assert FEEDBACK_HEADING in provider.prompts[1]
    assert "too dull" in provider.prompts[1]
    assert not any(message.text.endswith("1.") for message in transcript.messages)


def test_the_memory_window_says_what_is_forgotten() -> None:
    agent = SimulatedAgent({"name": "Ann"}, "room")
    for number in range(25):
        agent.live_through(
            TrajectoryEvent("room", f"m{number}", "Ann" if number % 2 else "Ben", f"text {number}", False)
        )
    prompt = agent.prompt()[1]["content"]
    # The first two and the last twenty stay.
    assert "Ben: text 0\nYou: text 1\n(you have forgotten 3 messages)\nYou: text 5\nBen: text 6" in prompt
    assert (agent.remembered, len(agent.own_messages)) == (22, 12)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Ann: Hello.", "Hello."),
        ('"Hello."', "Hello."),
        ('"A" and "B"', '"A" and "B"'),
        (" \n ", "..."),
        ("\ud800x", "?x"),
    ],
)
def test_what_a_model_writes_becomes_what_is_said(written: str, said: str) -> None:
    assert spoken(written, "Ann") == said


def test_without_planted_effects_the_script_says_the_same_after_feedback_and_nudges() -> None:
    agent = SimulatedAgent({"name": "Ann", "occupation": {"title": "welder"}}, "room")

    def said(world: ScriptedWorld) -> set[str]:
        prompts = [agent.prompt(), agent.prompt(["New!"]), agent.prompt([], "Dull."), agent.prompt(["New!"], "Dull.")]
        return {world.answer(prompt) for prompt in prompts}

    assert len(said(ScriptedWorld(effects=False))) == 1
    assert len(said(ScriptedWorld(habits=Habits(1.0, 1.0, 0.0)))) == 4


def test_a_message_for_which_the_model_had_no_room_says_so() -> None:
    class Short(Listening):
        async def complete(self, messages: Any, **options: Any) -> LLMResponse:
            answer = await super().complete(messages, **options)
            return LLMResponse(answer.content[:9], "x", is_cut_off=True)

    assert {m.text for m in run(RoomPlan("room", 1), Short()).messages} == {
        f"{name} speak [\u2026]" for name in ("Ann", "Ben", "Cid")
    }
