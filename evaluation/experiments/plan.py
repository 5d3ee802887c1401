"""The plan of an experiment: a scenario with its size, seating and settings, and the id derived from them."""

from __future__ import annotations

import json
import math
import random
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.experiments.experiment import ExperimentRecord
from evaluation.experiments.scenario import Scenario
from evaluation.judging.answer_parsing import describe
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.questions import Options
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.persona.results import DIMENSIONS
from evaluation.simulation.model_texts import WRITING_VERSION
from evaluation.simulation.scripted_world import Effects

FEWEST_ENVIRONMENTS = 2
"""One conversation on each side could not be told from chance."""


class GroupLayout(StrEnum):
    """Grouping of agents: as specified (each in one conversation), or as in the original runs."""

    SPECIFICATION = "specification"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Design:
    """The size of an experiment and its seating.

    Attributes:
        personas: How many different agents there are.
        rooms: For each pair of conversations the numbers of its agents, the same on both sides.
        treatment: What is corrected on the treatment's side.
    """

    personas: int
    rooms: tuple[tuple[int, ...], ...]
    treatment: CorrectionConfig

    @property
    def agent_sessions(self) -> int:
        """Number of times that an agent takes part in a conversation, over all agents of one side."""
        return sum(len(room) for room in self.rooms)


def design_of(
    scenario: Scenario,
    scale: float,
    seed: int,
    layout: GroupLayout = GroupLayout.SPECIFICATION,
    *,
    imported: int | None = None,
) -> Design:
    """The design of a scenario at a scale, rounded up, with two conversations on each side at least.

    Args:
        scenario: Gives the full size.
        scale: Above 0, up to 1.
        seed: Draws who meets whom when personas meet more than once.
        layout: With ``PAPER`` the scenario's few personas meet in several sessions.
        imported: How many personas there are already; they meet again and again like those of the paper.

    Raises:
        InputError: The scale is out of range, the scenario has no layout of the paper, or there are too few personas.
    """
    if not 0 < scale <= 1:
        raise InputError(f"A scale of {scale:g} makes no sense.", place="scale", remedy="Give a number from 0.01 to 1.")
    if layout is GroupLayout.PAPER and scenario.paper is None:
        raise InputError(f"{scenario.id} is not an experiment of the paper.", remedy="Leave --paper-layout out.")
    # A scale of 0.1 of 30 is 3.0000000000000004.
    environments = max(FEWEST_ENVIRONMENTS, math.ceil(round(scenario.environments * scale, 9)))
    full = environments * scenario.per_room
    paper = scenario.paper if layout is GroupLayout.PAPER else None
    personas = min(full, paper.personas if paper else full) if imported is None else imported
    if personas < scenario.per_room:
        raise InputError(
            f"{personas} personas cannot fill a conversation of {scenario.per_room}.",
            remedy="Name a folder with more agents.",
        )
    return Design(
        personas,
        seated(personas, environments, scenario.per_room, seed),
        paper.treatment if paper else scenario.treatment,
    )


def seated(personas: int, environments: int, per_room: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Which personas sit in which room: session by session, everybody at most once in a session.

    With as many personas as seats there is one session, in the order of the population. Otherwise every session is
    drawn again; whoever finds no full room in a session sits it out.
    """
    if personas == environments * per_room:
        return tuple(tuple(range(start, start + per_room)) for start in range(0, personas, per_room))
    rooms: list[tuple[int, ...]] = []
    session = 0
    while len(rooms) < environments:
        people = list(range(personas))
        random.Random(f"{seed}:seats:{session}").shuffle(people)
        rooms += [
            tuple(sorted(people[start : start + per_room])) for start in range(0, personas - per_room + 1, per_room)
        ]
        session += 1
    return tuple(rooms[:environments])


DEFAULT_SAMPLE_SIZE = 3
_NAMESPACE = uuid.UUID("6e4d1f0a-58a0-4a55-9a0e-0c2f6c2a7a10")


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """An experiment before it is run. Everything in it, the model included, decides its id.

    Attributes:
        scenario: What is talked about.
        model: Who speaks and judges.
        scale: Of the full size, above 0 up to 1.
        seed: Of population, seating, order of acting, samples, and what is written.
        layout: Who meets whom.
        steps: In place of the scenario's; ``None`` for those.
        sample_size: How many messages of an agent are judged one by one.
        is_batched: Whether up to ten questions share a call: cheaper and a little less exact.
        has_double_check: Whether the judge is asked to reconsider.
        temperature: Of what agents say.
        personas: Imported ones, in place of generated ones.
        effects: What is planted, in a scripted run; ``None`` with a real model.
    """

    scenario: Scenario
    model: str
    scale: float = 1.0
    seed: int = 0
    layout: GroupLayout = GroupLayout.SPECIFICATION
    steps: int | None = None
    sample_size: int = DEFAULT_SAMPLE_SIZE
    is_batched: bool = False
    has_double_check: bool = False
    temperature: float = 1.0
    personas: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    effects: Effects | None = None

    @property
    def design(self) -> Design:
        """Its size and seating.

        Raises:
            InputError: As ``design_of``.
        """
        imported = len(self.personas) if self.personas else None
        return design_of(self.scenario, self.scale, self.seed, self.layout, imported=imported)

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
    def config(self) -> dict[str, Any]:
        """All settings that decide what is asked, as data; ``plan_of`` builds the plan from it again."""
        return {
            "kind": "experiment",
            "scenario": self.scenario.model_dump(mode="json"),
            "model": self.model,
            "scale": self.scale,
            "seed": self.seed,
            "layout": str(self.layout),
            "steps": self.steps,
            "sample_size": self.sample_size,
            "is_batched": self.is_batched,
            "has_double_check": self.has_double_check,
            "temperature": self.temperature,
            "personas": [dict(each) for each in self.personas],
            "effects": None if self.effects is None else asdict(self.effects),
            "is_scripted": self.effects is not None,
            "conversations": 2 * len(self.design.rooms),
            "versions": [WRITING_VERSION, PROMPT_VERSION],
        }

    @property
    def record(self) -> ExperimentRecord:
        """The experiment as it is stored."""
        packed = json.dumps(self.config, sort_keys=True)
        return ExperimentRecord(
            id=str(uuid.uuid5(_NAMESPACE, packed)),
            name=self.scenario.title,
            scenario=self.scenario.id,
            seed=self.seed,
            scale=self.scale,
            config=self.config,
        )


def plan_of(record: ExperimentRecord) -> ExperimentPlan:
    """The plan of a stored experiment, to go on with it.

    Raises:
        InputError: It was stored by a version whose scenarios looked otherwise.
    """
    config = record.config
    try:
        scenario = Scenario.model_validate(config["scenario"])
    except ValidationError as error:
        remedy = "Start the experiment again."
        raise InputError(f"{describe(error)}.", place=f"experiment {record.id}", remedy=remedy) from None
    effects = None if config["effects"] is None else Effects(**config["effects"])
    return ExperimentPlan(
        scenario,
        config["model"],
        config["scale"],
        config["seed"],
        GroupLayout(config["layout"]),
        config["steps"],
        config["sample_size"],
        config["is_batched"],
        config["has_double_check"],
        config["temperature"],
        tuple(config["personas"]),
        effects,
    )


def judge_of(record: ExperimentRecord) -> str:
    """The name of the judge of a stored experiment: its model's."""
    return str(record.config.get("model", ""))
