"""One conversation of an experiment: simulated with or without the treatment, then evaluated."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.gate import ActionGate, Log
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.experiments.experiment import AgentScore, Side
from evaluation.experiments.plan import ExperimentPlan
from evaluation.insight.collector import MetricsCollector, with_counts
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import TargetType
from evaluation.judging.protocol import Judge
from evaluation.persona.agents import Agent, Cast, SpeakerMap
from evaluation.persona.evaluation import evaluate_agent
from evaluation.persona.subjects import Sources, everybody, subject_of
from evaluation.simulation.environment import Environment, RoomPlan, SteeringLog
from evaluation.simulation.model_texts import Writer
from evaluation.transcript import Transcript

NOBODY = ""
"""In the place of an agent: the score is the conversation's."""

_NO_CAST = Cast({}, {})
_CODE_DIGITS = 8


def room_plan(plan: ExperimentPlan, side: Side, environment: int) -> RoomPlan:
    """The plan of a conversation. Its name tells neither agents nor raters which side it is on."""
    topics = plan.scenario.topics
    code = hashlib.sha256(f"{plan.record.id}:{side}:{environment}".encode("ascii")).hexdigest()[:_CODE_DIGITS]
    return RoomPlan(
        room=f"{plan.scenario.id} {code}",
        steps=plan.step_count,
        order=plan.scenario.order,
        facilitator=plan.scenario.said_by_facilitator(topics[environment % len(topics)]),
        seed=plan.seed,
        config=plan.design.treatment if side is Side.TREATMENT else CorrectionConfig(),
        metadata={
            "experiment": plan.record.id,
            "scenario": plan.scenario.id,
            "side": str(side),
            "environment": environment,
            "seed": plan.seed,
            "is_simulated": True,
            "is_scripted": plan.effects is not None,
        },
    )


async def simulate(
    plan: ExperimentPlan,
    side: Side,
    environment: int,
    population: Sequence[Mapping[str, Any]],
    writer: Writer,
    judge: Judge,
    library: PropositionLibrary,
    *,
    gate_seconds: float,
    log: Log | None = None,
    heard: Callable[[], None] | None = None,
    steering: SteeringLog | None = None,
) -> Transcript:
    """The transcript of one conversation, with the memory, searches, calls and tokens of each agent.

    What judges were asked meanwhile is not among the calls.

    Nobody waits for a simulated message, so the gate gives a judge as long as every other call gets, and not the five
    seconds of a live one: a slow model must not turn the treatment off.

    Raises:
        JudgeError: The model cannot be asked.
        BudgetSpentError: Nothing more may be spent.
    """
    room = room_plan(plan, side, environment)
    gate = None
    if room.config.is_gate_on:
        checker = PropositionChecker(judge, library)
        gate = ActionGate(checker, timeout_seconds=gate_seconds, log=log, is_strict=True)
    personas = [population[number] for number in plan.design.rooms[environment]]
    collector = MetricsCollector()
    said = await Environment(
        room, personas, writer, judge=judge, gate=gate, heard=heard, note=collector.add, steering=steering
    ).run()
    return with_counts(said, collector.get_metrics())


async def evaluate(
    plan: ExperimentPlan,
    side: Side,
    environment: int,
    transcript: Transcript,
    judge: Judge,
    library: PropositionLibrary,
) -> list[AgentScore]:
    """Every agent's scores in one conversation, and the conversation's own, by name.

    Raises:
        BudgetSpentError: Nothing more may be spent.
    """
    sources = Sources([transcript], SpeakerMap(), _NO_CAST, {})
    agents = everybody(sources)
    evaluations = await asyncio.gather(
        *(evaluate_agent(subject_of(agent, sources), judge, library, plan.evaluation_plan) for agent in agents)
    )
    return [
        AgentScore(side, environment, _name(agent), str(dimension), each.score, len(each.items), each.reason)
        for agent, evaluation in zip(agents, evaluations, strict=True)
        for dimension, each in evaluation.dimensions.items()
    ]


def _name(agent: Agent) -> str:
    return NOBODY if agent.kind is TargetType.ENVIRONMENT else agent.display_name
