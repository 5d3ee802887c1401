"""The plan of an experiment: scenario, groups and settings."""

from __future__ import annotations

import json
import math
import uuid
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.files.bundled import parse_yaml
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.questions import Options
from evaluation.persona.dimensions import DIMENSIONS
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.simulation.environment import TurnOrder
from evaluation.simulation.model_texts import WRITING_VERSION

EXPERIMENT, AB_TEST = "experiment", "ab_test"
"""The kinds of studies; their jobs are called so, too."""

TOPIC = "{{topic}}"


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
        return {step: text.replace(TOPIC, topic) for step, text in self.facilitator.items()}


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
        temperature: Of what agents say.
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
    temperature: float = 1.0
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
