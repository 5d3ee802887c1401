"""A room in which agents meet: step by step, interventions first, then the facilitator, then the agents.

Source: persona evaluation specification, "Step-based environment model" (TinyTroupe's ``TinyWorld``).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from evaluation.corrections.builtin_interventions import configured
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.gate import ActionGate
from evaluation.corrections.interventions import Execution, run_interventions
from evaluation.corrections.repetition import suppression_prompt
from evaluation.insight.collector import Event, LLMCallEvent, MemoryEvent, RetrievalEvent
from evaluation.judging.protocol import Judge
from evaluation.judging.targets import TrajectoryEvent
from evaluation.simulation._agent import SimulatedAgent, spoken
from evaluation.simulation.model_texts import Generation, Writer, speech_subject
from evaluation.transcript import SIMULATED_FORMAT, Message, Player, Transcript

FACILITATOR = "Facilitator"
PURPOSE = "simulation"


class TurnOrder(StrEnum):
    """Order of acting: all at once on what was said before the step, or one after the other in a drawn order."""

    PARALLEL = "parallel"
    SEQUENTIAL_RANDOM = "sequential_random"


@dataclass(frozen=True, slots=True)
class RoomPlan:
    """Settings of a conversation.

    Attributes:
        room: Its name, as prompts and transcripts hold it.
        steps: How many times everybody may speak.
        order: Who acts when.
        facilitator: What the facilitator says at the beginning of a step, by step from 1.
        seed: Draws the order of acting.
        config: What is corrected; the same for every agent. Everything off for a control.
        metadata: Goes into the transcript.
    """

    room: str
    steps: int
    order: TurnOrder = TurnOrder.PARALLEL
    facilitator: Mapping[int, str] = field(default_factory=dict)
    seed: int = 0
    config: CorrectionConfig = field(default_factory=CorrectionConfig)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def acting_order(plan: RoomPlan, step: int, agents: int) -> tuple[int, ...]:
    """The agents by number in the order in which they act in a step (from 1): the same for the same seed and room.

    It does not depend on the side of an experiment, so that treatment and control differ in nothing else.
    """
    if plan.order is TurnOrder.PARALLEL:
        return tuple(range(agents))
    drawn = list(range(agents))
    random.Random(f"{plan.seed}:{plan.metadata.get('environment', plan.room)}:{step}").shuffle(drawn)
    return tuple(drawn)


class SteeringLog(Protocol):
    """Counts what steers agents beside the gate."""

    def note_interventions(self, executions: Iterable[Execution]) -> None:
        """Counts the interventions of a step."""
        ...

    def note_suppression(self, *, has_fired: bool) -> None:
        """Counts a prompt that repetition suppression looked at."""
        ...


class Environment:
    """One conversation between agents.

    Args:
        plan: How it goes.
        personas: Of the agents; each has a ``name`` of its own.
        writer: Writes what they say.
        judge: Answers interventions; asked only when the configuration turns some on.
        gate: Looks at every message before it is sent; ``None`` for no gate.
        heard: Told of every message by an agent, for progress.
        note: Told what agents remember, how many messages they find when they are to speak, and what each of their
            texts took: once for each text, also where it was kept from an earlier run.
        steering: Told what interventions and repetition suppression did.
    """

    def __init__(
        self,
        plan: RoomPlan,
        personas: Sequence[Mapping[str, Any]],
        writer: Writer,
        *,
        judge: Judge | None = None,
        gate: ActionGate | None = None,
        heard: Callable[[], None] | None = None,
        note: Callable[[Event], None] | None = None,
        steering: SteeringLog | None = None,
    ) -> None:
        self._plan = plan
        self.agents = [SimulatedAgent(persona, plan.room) for persona in personas]
        self._writer = writer
        self._judge = judge
        self._gate = gate
        self._heard = heard
        self._listener = note
        self._noted_texts: set[str] = set()
        self._steering = steering
        self._messages: list[Message] = []
        self._interventions = configured(self.agents, {agent.agent_id: plan.config for agent in self.agents})

    async def run(self) -> Transcript:
        """All steps, and the transcript of what was said.

        Raises:
            JudgeError: The model cannot be asked.
            BudgetSpentError: Nothing more may be spent.
        """
        for step in range(1, self._plan.steps + 1):
            await self._step(step)
        return self.transcript()

    async def _step(self, step: int) -> None:
        if self._judge is not None and self._interventions:
            executions = await run_interventions(self._interventions, self._judge)
            if self._steering is not None:
                self._steering.note_interventions(executions)
        if step in self._plan.facilitator:
            self._tell(FACILITATOR, self._plan.facilitator[step], step, channel="system")
        acting = [self.agents[place] for place in acting_order(self._plan, step, len(self.agents))]
        if self._plan.order is TurnOrder.PARALLEL:
            said = await asyncio.gather(*(self._spoken(agent, step) for agent in acting))
            for agent, text in zip(acting, said, strict=True):
                self._tell(agent.name, text, step)
        else:
            for agent in acting:
                self._tell(agent.name, await self._spoken(agent, step), step)

    async def _spoken(self, agent: SimulatedAgent, step: int) -> str:
        config = self._plan.config
        thoughts = agent.take_nudges()
        threshold = config.repetition_threshold if config.repetition_suppression_enabled else None
        if self._steering is not None and threshold is not None:
            has_fired = suppression_prompt(agent.own_messages, threshold) is not None
            self._steering.note_suppression(has_fired=has_fired)

        async def generate(feedback: str) -> str:
            prompt = agent.prompt(thoughts, feedback, threshold)
            subject = speech_subject(self._plan.room, step, agent.name)
            self._note(RetrievalEvent(agent.name, agent.remembered))
            report = partial(self._note_text, agent.name)
            text, is_cut_off = await self._writer.write(prompt, purpose=PURPOSE, subject=subject, report=report)
            return spoken(text, agent.name, is_cut_off=is_cut_off)

        if self._gate is None:
            return await generate("")
        return (await self._gate.send(generate, agent.context(), config)).text

    def _tell(self, speaker: str, text: str, step: int, *, channel: str = "public") -> None:
        number = len(self._messages)
        message = Message.model_validate(
            {"id": f"m{number}", "index": number, "round": step, "speaker": speaker, "text": text, "channel": channel}
        )
        self._messages.append(message)
        event = TrajectoryEvent(self._plan.room, message.id, speaker, text, is_action=False)
        for agent in self.agents:
            agent.live_through(event)
            self._note(MemoryEvent(agent.name, "observation"))
        if self._heard is not None and channel == "public":
            self._heard()

    def _note(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)

    def _note_text(self, agent: str, text: Generation) -> None:
        if text.key not in self._noted_texts:
            self._noted_texts.add(text.key)
            tokens = round(text.usage.input_tokens + text.usage.output_tokens)
            self._note(LLMCallEvent(tokens, text.usage.known_usd, agent))

    def transcript(self) -> Transcript:
        """The messages so far as a transcript."""
        return Transcript(
            game_id=self._plan.room,
            source_format=SIMULATED_FORMAT,
            language="en",
            players=tuple(
                Player(name=agent.name, persona=agent.persona, model=self._writer.model, is_human=False)
                for agent in self.agents
            ),
            messages=tuple(self._messages),
            metadata=dict(self._plan.metadata),
        )
