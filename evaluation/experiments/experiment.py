"""An experiment: scenario, plan, its conversations, and treatment minus control."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from evaluation.corrections.action_gate import ActionGate, GateResult, Log
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.proposition_checks import PropositionChecker
from evaluation.errors import InputError
from evaluation.experiments.results import Activity, AgentScore, RunResult, Side, StudyResult, study_result
from evaluation.files.bundled import parse_yaml
from evaluation.insight.collector import MetricsCollector, with_counts
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import Judge
from evaluation.judging.questions import Options
from evaluation.persona.agents import Cast, SpeakerMap
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.persona.evaluation import EvaluationPlan, evaluate_agent
from evaluation.persona.subjects import Sources, everybody, subject_of
from evaluation.simulation.environment import Environment, RoomPlan, TurnOrder
from evaluation.simulation.model_texts import WRITING_VERSION, Writer
from evaluation.transcript import Transcript

EXPERIMENT, AB_TEST = "experiment", "ab_test"
"""The kinds of studies; their jobs are called so, too."""


class Scenario(BaseModel):
    """One experiment's setting.

    Attributes:
        id: The name of its file.
        title: For people.
        kind: "brainstorming" or "debate".
        population: A profile of the agent factory.
        agents: N_a, how many agents there are on each side in full size.
        environments: N_e, how many conversations; each has N_a / N_e agents.
        steps: How many times everybody may speak.
        order: Who acts when.
        treatment: What is corrected on the treatment's side; the control's has nothing.
        treatment_words: The same, for people.
        topics: Taken in turn, one for each pair of conversations.
        facilitator: What the facilitator says at the beginning of a step, by step from 1; ``{{topic}}`` stands for the
            topic.
        published: The experiment of Table 1 that it repeats.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    title: str
    kind: str
    population: str
    agents: int
    environments: int
    steps: int
    order: TurnOrder = TurnOrder.PARALLEL
    treatment: CorrectionConfig
    treatment_words: str
    topics: list[str]
    facilitator: dict[int, str] = Field(default_factory=dict)
    published: str | None = None

    @property
    def per_room(self) -> int:
        """Agents in a conversation."""
        return self.agents // self.environments

    def said_by_facilitator(self, topic: str) -> dict[int, str]:
        """The facilitator's words by step."""
        return {step: text.replace("{{topic}}", topic) for step, text in self.facilitator.items()}


@cache
def scenarios() -> dict[str, Scenario]:
    """The shipped scenarios by id, in the paper's order."""
    folder = files("evaluation.experiments").joinpath("scenarios")
    bodies = {each.name: parse_yaml(each.read_text("utf-8")) for each in folder.iterdir()}
    found = [Scenario(id=name.removesuffix(".yaml"), **body) for name, body in bodies.items()]
    return {each.id: each for each in sorted(found, key=lambda each: each.published or "9")}


def scenario_named(name: str) -> Scenario:
    """The scenario of that id.

    Raises:
        InputError: There is none.
    """
    if name not in scenarios():
        raise InputError(f"There is no scenario {name!r}.", remedy=f"Choose from {', '.join(scenarios())}.")
    return scenarios()[name]


FEWEST_ENVIRONMENTS = 2
"""One conversation on each side could not be told from chance."""

_NAMESPACE = uuid.UUID("6e4d1f0a-58a0-4a55-9a0e-0c2f6c2a7a10")


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """An experiment before it is run. Everything in it, the model included, decides its id.

    Attributes:
        scenario: What is talked about.
        model: Who speaks and judges.
        scale: Of the full size, above 0 up to 1.
        seed: Of population, seating, order of acting, samples, and what is written.
        steps: In place of the scenario's; ``None`` for those.
        sample_size: How many messages of an agent are judged one by one.
        is_batched: Whether up to ten questions share a call: cheaper and a little less exact.
        has_double_check: Whether the judge is asked to reconsider.
        effects: Whether the script plants effects of the treatment; ``None`` with a real model.
    """

    scenario: Scenario
    model: str
    scale: float = 1.0
    seed: int = 0
    steps: int | None = None
    sample_size: int = 3
    is_batched: bool = False
    has_double_check: bool = False
    effects: bool | None = None

    @property
    def rooms(self) -> tuple[tuple[int, ...], ...]:
        """For each pair of conversations the numbers of its agents, the same on both sides.

        The scenario's number of pairs at the scale, rounded up, two at least; everybody sits in one of them.

        Raises:
            InputError: The scale is out of range.
        """
        if not 0 < self.scale <= 1:
            remedy = "Give a number from 0.01 to 1."
            raise InputError(f"A scale of {self.scale:g} makes no sense.", place="scale", remedy=remedy)
        # A scale of 0.1 of 30 is 3.0000000000000004.
        pairs = max(FEWEST_ENVIRONMENTS, math.ceil(round(self.scenario.environments * self.scale, 9)))
        per_room = self.scenario.per_room
        return tuple(tuple(range(room * per_room, (room + 1) * per_room)) for room in range(pairs))

    @property
    def people(self) -> int:
        """Number of agents of one side."""
        return len(self.rooms) * self.scenario.per_room

    @property
    def step_count(self) -> int:
        """Number of steps, in each of which everybody may speak."""
        return self.scenario.steps if self.steps is None else self.steps

    @property
    def evaluation_plan(self) -> EvaluationPlan:
        """The settings for the evaluation of the agents."""
        options = Options(is_batched=self.is_batched, has_double_check=self.has_double_check)
        return EvaluationPlan(DIMENSIONS, self.sample_size, self.seed, options=options)

    @property
    def kind(self) -> str:
        """``EXPERIMENT``."""
        return EXPERIMENT

    @property
    def name(self) -> str:
        """The scenario's title."""
        return self.scenario.title

    @property
    def is_scripted(self) -> bool:
        """Whether a script takes the place of the model: it shows that the pipeline works, and says nothing else."""
        return self.effects is not None

    @property
    def id(self) -> str:
        """A UUID made of everything that decides what is asked: the same experiment goes on and never doubles."""
        parts = [_PLANS.dump_python(self, mode="json"), WRITING_VERSION, PROMPT_VERSION]
        return str(uuid.uuid5(_NAMESPACE, json.dumps(parts, sort_keys=True)))


_PLANS = TypeAdapter(ExperimentPlan)


def room_plan(plan: ExperimentPlan, side: Side, environment: int) -> RoomPlan:
    """The plan of a conversation. Its name tells neither agents nor raters which side it is on."""
    topics = plan.scenario.topics
    code = hashlib.sha256(f"{plan.id}:{side}:{environment}".encode("ascii")).hexdigest()[:8]
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
    config: CorrectionConfig, judge: Judge, library: PropositionLibrary, log: Log | None = None
) -> ActionGate | None:
    """The gate of a simulated conversation; ``None`` where its settings turn none on.

    Nobody waits for a simulated message, so a judge gets as long as for every other call: a slow model must not turn
    the treatment off.
    """
    if not config.is_gate_on:
        return None
    return ActionGate(PropositionChecker(judge, library), log=log, is_strict=True)


@dataclass(frozen=True, slots=True)
class Troupe:
    """The people of an experiment, and who writes and judges for them.

    Attributes:
        people: Personas of one side; the other has the same.
    """

    plan: ExperimentPlan
    people: Sequence[Mapping[str, Any]]
    writer: Writer
    judge: Judge
    library: PropositionLibrary


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
        gate=patient_gate(room.config, troupe.judge, troupe.library, log),
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


def experiment_result(runs: Sequence[RunResult], stopped: str = "") -> StudyResult:
    """Treatment minus control in every dimension, in the specification's order."""
    sides = {str(side): [run for run in runs if run.variant == side] for side in (Side.CONTROL, Side.TREATMENT)}
    return study_result(sides, {str(each): "higher" for each in DIMENSIONS}, limits=_LIMITS, stopped=stopped)
