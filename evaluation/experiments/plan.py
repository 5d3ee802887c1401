"""The plan of an experiment: a scenario with its size and settings, and the id derived from them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError

from evaluation.errors import InputError
from evaluation.experiments.experiment import ExperimentRecord
from evaluation.experiments.groups import Design, GroupLayout, design_of
from evaluation.experiments.scenario import Scenario
from evaluation.judging.answer_parsing import describe
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.questions import Options
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.persona.results import DIMENSIONS
from evaluation.simulation.model_texts import WRITING_VERSION
from evaluation.simulation.scripted.world import Effects

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
