"""Synthetic mode: ask agents without messages scenario prompts, so that they can be evaluated."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.errors import InputError, JudgeError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.files.bundled import parse_yaml, persona_root
from evaluation.judging.model_client.budget import BudgetSpentError
from evaluation.judging.model_client.calls import CallPurpose
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.propositions import TargetType
from evaluation.persona.agents import SYNTHETIC_FORMAT, Agent, Cast, SpeakerMap, find_agent, persona_text, shipped_cast
from evaluation.persona.subjects import Sources, Subject, subject_of
from evaluation.transcript import Transcript, build_transcript

CHANNEL = "synthetic"
NARRATOR = "Scenario"
PURPOSE = "synthetic"

SYSTEM = """\
You are {name}. Below stands who you are. Answer as this person would, in your own words, with what you would say aloud
and nothing else: no stage directions, no explanations, no mention that you are a program. Two to five sentences.

{persona}"""

_FILE = "scenario_prompts.yaml"
_LONGEST_NAME = 200
_MAX_TOKENS = 400
_TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class ScenarioPrompt:
    """One situation that an agent is put into."""

    id: str
    text: str


def scenario_prompts() -> tuple[ScenarioPrompt, ...]:
    """The shipped prompts, in their order.

    Raises:
        InfrastructureError: The folder of shipped personas is missing.
    """
    body = parse_yaml((persona_root() / _FILE).read_text(encoding="utf-8"))
    return tuple([ScenarioPrompt(entry["id"], entry["text"]) for entry in body["prompts"]])


def agents_with_personas(stored: Mapping[str, Agent], references: Sequence[str]) -> list[Agent]:
    """The agents that can answer in character.

    Args:
        stored: Agents by id, which count before shipped ones of the same id.
        references: Ids or names; nothing, or ``all``, for every agent that has a persona.

    Raises:
        NotFoundError: Nobody is called that.
        InputError: That agent has no persona.
    """
    cast = shipped_cast()
    known = {key: member.agent for key, member in cast.members.items()}
    for key, agent in stored.items():
        if agent.kind is TargetType.AGENT:
            shipped = known[key].persona if key in known else None
            known[key] = replace(agent, persona=shipped if agent.persona is None else agent.persona)
    if not references or "all" in references:
        return [agent for agent in known.values() if agent.persona is not None]
    return [_named(reference, known, cast) for reference in dict.fromkeys(references)]


def _named(reference: str, known: dict[str, Agent], cast: Cast) -> Agent:
    names = [(key, agent.display_name) for key, agent in known.items()]
    names += [(key, name) for key, member in cast.members.items() for name in member.speakers]
    agent = known.get(find_agent(reference, names) or "")
    if agent is None:
        raise NotFoundError(
            f"No agent called {reference!r} is known.",
            remedy=f"Choose from: {', '.join(known)}. Import one with: dramaturg agents import.",
        )
    if agent.persona is None:
        raise InputError(
            f"{agent.display_name} has no persona to answer from.",
            place=agent.id,
            remedy="Give it one with: dramaturg agents import FILE.",
        )
    return agent


async def answers_of(agent: Agent, prompts: Sequence[ScenarioPrompt], client: LLMClient) -> Transcript:
    """The agent's answers to the prompts, each asked on its own, as a transcript marked synthetic.

    Args:
        agent: Must have a persona.
        prompts: In this order.
        client: The model that plays the agent.

    Raises:
        JudgeError: The model does not answer, or the budget does not allow it.
        InputError: The model answered nothing at all.
    """
    async with client.session():
        answers = await asyncio.gather(*[_answer(agent, prompt, client) for prompt in prompts])
    messages: list[dict[str, Any]] = []
    for prompt, answer in zip(prompts, answers, strict=True):
        if answer:
            messages.append(
                {"id": f"{prompt.id}-prompt", "channel": "system", "speaker": NARRATOR, "text": prompt.text}
            )
            messages.append({"id": prompt.id, "channel_name": CHANNEL, "speaker": _name(agent), "text": answer})
    if not messages:
        raise InputError(f"{client.model} answered nothing as {agent.display_name}.", remedy="Take another model.")
    return build_transcript(
        Transcript,
        {
            "game_id": f"synthetic-{agent.id}"[:_LONGEST_NAME],
            "source_format": SYNTHETIC_FORMAT,
            "players": ({"name": _name(agent), "persona": agent.persona, "model": client.model},),
            "messages": tuple([{"index": index, **each} for index, each in enumerate(messages)]),
            "metadata": {"synthetic": True, "model": client.model},
        },
    )


async def _answer(agent: Agent, prompt: ScenarioPrompt, client: LLMClient) -> str:
    conversation = [
        {"role": "system", "content": SYSTEM.format(name=_name(agent), persona=persona_text(agent.persona))},
        {"role": "user", "content": prompt.text},
    ]
    try:
        response = await client.complete(conversation, _TEMPERATURE, _MAX_TOKENS, purpose=CallPurpose(PURPOSE))
    except BudgetSpentError as spent:
        raise JudgeError(
            f"{agent.display_name} could not answer: {spent.reason}.",
            place=client.model,
            remedy="Allow a larger budget.",
        ) from None
    # A model may write half of a pair of characters, which no file can hold.
    return well_formed(response.content.strip())


def _name(agent: Agent) -> str:
    return agent.display_name[:_LONGEST_NAME]


def synthetic_subject(agent: Agent, transcript: Transcript) -> Subject:
    """The agent with nothing but what it said in that transcript."""
    speakers = SpeakerMap({_name(agent): agent.id})
    return subject_of(agent, Sources([transcript], speakers, shipped_cast(), {agent.id: agent}))
