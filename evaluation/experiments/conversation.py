"""One conversation of an experiment: simulated, evaluated, and what its treatment did in it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.corrections.action_gate import ActionGate, GateResult, Log
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.experiments.plan import ExperimentPlan
from evaluation.experiments.results import Activity, AgentScore, RunResult, Side, StatisticalComparison, comparisons
from evaluation.insight.collector import MetricsCollector, with_counts
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import Judge
from evaluation.persona.agents import Cast, SpeakerMap
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.persona.evaluation import evaluate_agent
from evaluation.persona.subjects import Sources, everybody, subject_of
from evaluation.simulation.environment import Environment, RoomPlan
from evaluation.simulation.model_texts import Writer
from evaluation.transcript import Transcript

_CODE_DIGITS = 8


def room_plan(plan: ExperimentPlan, side: Side, environment: int) -> RoomPlan:
    """The plan of a conversation. Its name tells neither agents nor raters which side it is on."""
    topics = plan.scenario.topics
    code = hashlib.sha256(f"{plan.id}:{side}:{environment}".encode("ascii")).hexdigest()[:_CODE_DIGITS]
    return RoomPlan(
        room=f"{plan.scenario.id} {code}",
        steps=plan.step_count,
        order=plan.scenario.order,
        facilitator=plan.scenario.said_by_facilitator(topics[environment % len(topics)]),
        seed=plan.seed,
        config=plan.scenario.treatment if side is Side.TREATMENT else CorrectionConfig(),
        metadata={
            "experiment": plan.id,
            "scenario": plan.scenario.id,
            "side": str(side),
            "environment": environment,
            "seed": plan.seed,
            "is_simulated": True,
            "is_scripted": plan.is_scripted,
        },
    )


def patient_gate(
    config: CorrectionConfig, judge: Judge, library: PropositionLibrary, seconds: float = 60.0, log: Log | None = None
) -> ActionGate | None:
    """The gate of a simulated conversation; ``None`` where its settings turn none on.

    Nobody waits for a simulated message, so it gives a judge as long as every other call gets, and not the five seconds
    of a live one: a slow model must not turn the treatment off.
    """
    if not config.is_gate_on:
        return None
    return ActionGate(PropositionChecker(judge, library), timeout_seconds=seconds, log=log, is_strict=True)


@dataclass(frozen=True, slots=True)
class Troupe:
    """The people of an experiment, and who writes and judges for them.

    Attributes:
        people: Personas of one side; the other has the same.
        gate_seconds: As for ``patient_gate``.
    """

    plan: ExperimentPlan
    people: Sequence[Mapping[str, Any]]
    writer: Writer
    judge: Judge
    library: PropositionLibrary
    gate_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation that was simulated, what corrections did in it, and every message that the gate looked at."""

    transcript: Transcript
    activity: Activity
    checked: Sequence[GateResult]


async def simulate(troupe: Troupe, side: Side, environment: int, heard: Callable[[], None] = lambda: None) -> Talk:
    """One conversation, with the memory, searches, calls and tokens of each agent in its transcript.

    What judges were asked meanwhile is not among the calls. ``heard`` is told of every message.

    Raises:
        JudgeError: The model cannot be asked.
        BudgetSpentError: Nothing more may be spent.
    """
    room = room_plan(troupe.plan, side, environment)
    collector, activity, checked = MetricsCollector(), Activity(), list[GateResult]()

    async def log(result: GateResult) -> None:
        checked.append(result)
        activity.note_check(result)

    said = await Environment(
        room,
        [troupe.people[number] for number in troupe.plan.rooms[environment]],
        troupe.writer,
        judge=troupe.judge,
        gate=patient_gate(room.config, troupe.judge, troupe.library, troupe.gate_seconds, log),
        heard=heard,
        note=collector.add,
        steering=activity.note,
    ).run()
    activity.messages = len(said.discussion)
    return Talk(with_counts(said, collector.get_metrics()), activity, checked)


async def evaluate(troupe: Troupe, transcript: Transcript) -> tuple[AgentScore, ...]:
    """Every agent's scores in one conversation, and the conversation's own, by name.

    Raises:
        BudgetSpentError: Nothing more may be spent.
    """
    sources = Sources([transcript], SpeakerMap(), Cast({}, {}), {})
    agents, plan = everybody(sources), troupe.plan.evaluation_plan
    evaluations = await asyncio.gather(
        *(evaluate_agent(subject_of(agent, sources), troupe.judge, troupe.library, plan) for agent in agents)
    )
    return tuple(
        [
            AgentScore("" if agent.kind is TargetType.ENVIRONMENT else agent.display_name, str(dimension), each.score)
            for agent, evaluation in zip(agents, evaluations, strict=True)
            for dimension, each in evaluation.dimensions.items()
        ]
    )


_LIMITS = {str(each): (0.0, 9.0) for each in DIMENSIONS if each is not Dimension.IDEAS_QUANTITY}


def report_rows(runs: Sequence[RunResult]) -> list[StatisticalComparison]:
    """Treatment minus control in every dimension, in the specification's order."""
    sides = {str(side): [run for run in runs if run.variant == side] for side in (Side.CONTROL, Side.TREATMENT)}
    return comparisons(sides, {str(each): "higher" for each in DIMENSIONS}, limits=_LIMITS)
