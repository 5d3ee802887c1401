"""Scenarios: topic, group sizes and treatment, as data files that are shipped or written by a person."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from evaluation.corrections.config import CorrectionConfig
from evaluation.errors import InputError
from evaluation.files.yaml_files import parse_model
from evaluation.simulation.environment import TurnOrder
from evaluation.simulation.personas import Profile, profile_named, profiles

TOPIC = "{{topic}}"

Text = Annotated[str, Field(min_length=1, max_length=2_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FacilitatorLine(_Part):
    """The facilitator's words at the beginning of a step, counted from 1; ``{{topic}}`` stands for the topic."""

    step: Annotated[int, Field(ge=1)]
    text: Text


class PaperLayout(_Part):
    """The layout of the original experiment: few personas that meet again and again, and its own settings.

    Source: TinyTroupe's notebooks of June 2025.
    """

    personas: Annotated[int, Field(ge=2)]
    sessions: Annotated[int, Field(ge=1)]
    treatment: CorrectionConfig


class OwnPopulation(_Part):
    """A population that a scenario's file describes, in place of a shipped profile.

    Attributes:
        title: For people.
        description: Who is in it.
        must_cover: What its dimensions have to reach.
    """

    title: Text
    description: Text
    must_cover: Text


class Scenario(_Part):
    """One experiment's setting.

    Attributes:
        id: The name of its file.
        title: For people.
        kind: "brainstorming" or "debate".
        population: A shipped profile of the agent factory; ``None`` where ``own_population`` stands.
        own_population: One that the file itself describes.
        agents: N_a, how many agents there are on each side in full size.
        environments: N_e, how many conversations; each has N_a / N_e agents.
        steps: How many times everybody may speak.
        order: Who acts when.
        treatment: What is corrected on the treatment's side; the control's has nothing.
        treatment_words: The same, for people.
        topics: Taken in turn, one for each pair of conversations.
        facilitator: What the facilitator says.
        published: The experiment of Table 1 that it repeats; ``None`` for one of one's own.
        paper: How that one was run.
    """

    id: str = ""
    title: Text
    kind: Annotated[str, Field(min_length=1, max_length=60)]
    population: str | None = None
    own_population: OwnPopulation | None = None
    agents: Annotated[int, Field(ge=2, le=10_000)]
    environments: Annotated[int, Field(ge=1, le=5_000)]
    steps: Annotated[int, Field(ge=1, le=200)]
    order: TurnOrder = TurnOrder.PARALLEL
    treatment: CorrectionConfig
    treatment_words: Text
    topics: Annotated[list[Text], Field(min_length=1, max_length=200)]
    facilitator: Annotated[list[FacilitatorLine], Field(max_length=200)] = Field(default_factory=list)
    published: str | None = None
    paper: PaperLayout | None = None

    @field_validator("order", mode="before")
    @classmethod
    def _order(cls, value: Any) -> Any:
        return TurnOrder(value) if isinstance(value, str) and value in set(TurnOrder) else value

    @field_validator("population")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        if value is not None and value not in profiles():
            remedy = f"Choose from {', '.join(profiles())}, or describe your own under 'own_population'."
            raise ValueError(f"{value!r} is not a population. {remedy}")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.agents % self.environments or self.agents // self.environments < 2:
            raise ValueError("agents must be two or more for each environment, the same number in all of them")
        if (self.population is None) == (self.own_population is None):
            raise ValueError("exactly one of 'population' and 'own_population' says who takes part")
        late = [line.step for line in self.facilitator if line.step > self.steps]
        if late:
            raise ValueError(f"the facilitator speaks in step {late[0]}, and there are {self.steps} steps")
        return self

    @property
    def profile(self) -> Profile:
        """The profile of those who take part."""
        own = self.own_population
        if own is None:
            return profile_named(self.population or "")
        return Profile(f"{self.id} (own)", own.title, own.description, own.must_cover)

    @property
    def per_room(self) -> int:
        """Agents in a conversation."""
        return self.agents // self.environments

    def said_by_facilitator(self, topic: str) -> dict[int, str]:
        """The facilitator's words by step."""
        return {line.step: line.text.replace(TOPIC, topic) for line in self.facilitator}


@cache
def scenarios() -> dict[str, Scenario]:
    """The shipped scenarios by id, in the paper's order."""
    folder = files("evaluation.experiments").joinpath("scenarios")
    found = [
        read_scenario(each.read_bytes(), each.name.removesuffix(".yaml"), each.name)
        for each in folder.iterdir()
        if each.name.endswith(".yaml")
    ]
    return {each.id: each for each in sorted(found, key=lambda each: each.published or "9")}


def scenario_named(name: str) -> Scenario:
    """A shipped scenario by its id, or a person's own by the path of its file.

    Raises:
        InputError: There is none, or its file is faulty.
    """
    if name in scenarios():
        return scenarios()[name]
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        try:
            return read_scenario(path.read_bytes(), path.stem, name)
        except OSError as error:
            raise InputError(f"The scenario cannot be read: {error.strerror}.", place=name) from None
    raise InputError(
        f"There is no scenario {name!r}.", remedy=f"Choose from {', '.join(scenarios())}, or name a .yaml file."
    )


def read_scenario(content: bytes, scenario_id: str, file: str) -> Scenario:
    """The scenario in a file's content.

    Raises:
        InputError: It is not YAML, or a value is missing, unknown or out of range; names the line and the key.
    """
    found = parse_model(content, Scenario, file, remedy="See docs/experiments.md.")
    return found.model_copy(update={"id": scenario_id})
