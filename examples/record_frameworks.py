"""Record a running simulation of AutoGen, LangGraph, CrewAI, TinyTroupe, or a loop of steps as Concordia has them.

Each function takes what the framework hands out while it runs, and a recorder:

    with Recorder("games") as recorder:
        asyncio.run(record_autogen(team.run_stream(task="Play a game of Mafia."), recorder))

Once the game has ended: ``dramaturg import games``. Dramaturg needs none of the frameworks.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import Any

from evaluation import Recorder

TOOLS = ("ToolCallRequestEvent", "ToolCallExecutionEvent", "ToolCallSummaryMessage")


async def record_autogen(stream: AsyncIterable[Any], recorder: Recorder) -> None:
    """AgentChat: ``team.run_stream(...)`` gives messages and events, and the whole result at the end."""
    async for event in stream:
        if not hasattr(event, "source") or event.type in TOOLS or event.type.endswith("ChunkEvent"):
            continue
        recorder.message(event.source, event.to_text(), channel="private" if event.type == "ThoughtEvent" else "public")
        if event.models_usage is not None:
            usage = event.models_usage
            recorder.cost(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)


def record_langgraph(updates: Iterable[Mapping[str, Any]], recorder: Recorder) -> None:
    """``graph.stream(state, stream_mode="updates")`` gives what each node added; a node is a speaker."""
    for update in updates:
        for node, state in update.items():
            for message in (state or {}).get("messages", ()):
                content = message.content
                if not isinstance(content, str):
                    content = "".join(block.get("text", "") for block in content if isinstance(block, Mapping))
                if message.type == "ai" and content:
                    recorder.message(message.name or node, content)
                if usage := getattr(message, "usage_metadata", None):
                    recorder.cost(input_tokens=usage["input_tokens"], output_tokens=usage["output_tokens"])


def record_crewai(recorder: Recorder) -> Any:
    """The function for ``Crew(..., task_callback=record_crewai(recorder))``: a task done is a message of its agent."""

    def task_done(output: Any) -> None:
        recorder.message(output.agent, output.raw)

    return task_done


def record_tinytroupe(steps: Sequence[Mapping[str, Sequence[Mapping[str, Any]]]], recorder: Recorder) -> None:
    """``world.run(steps, return_actions=True)`` gives the actions of each agent at each step, by name."""
    for number, actions_of in enumerate(steps, start=1):
        recorder.begin_round(number)
        for name, actions in actions_of.items():
            for action in actions:
                if action["type"] in ("TALK", "THINK"):
                    channel = "public" if action["type"] == "TALK" else "private"
                    recorder.message(name, action["content"], channel=channel)


def record_steps(entities: Sequence[Any], recorder: Recorder, *, rounds: int, action_spec: Any) -> None:
    """A loop over entities that observe and act: what one does, all others observe."""
    for number in range(1, rounds + 1):
        recorder.begin_round(number)
        for entity in entities:
            said = entity.act(action_spec)
            recorder.message(entity.name, said)
            for other in entities:
                if other is not entity:
                    other.observe(f"{entity.name}: {said}")
