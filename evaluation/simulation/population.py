"""Populations: personas as data, profiles, and the factory that makes people in three stages."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.errors import JSONParseError
from evaluation.files.bundled import parse_yaml
from evaluation.judging.answers import AnswerError, Validate, Value
from evaluation.simulation.environment import FACILITATOR
from evaluation.simulation.model_texts import USUAL_ROOM, Writer
from evaluation.text.agent_names import slug_of

_LONGEST = 2_000
_MOST = 50

Line = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
Lines = Annotated[list[Line], Field(min_length=1, max_length=_MOST)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Profile(_Part):
    """A kind of population.

    Attributes:
        description: Who is in it.
        must_cover: What its dimensions have to reach.
    """

    description: Line
    must_cover: Line


@cache
def profiles() -> Mapping[str, Profile]:
    """The three profiles by id."""
    body = parse_yaml(Path(__file__).with_name("profiles.yaml").read_text("utf-8"))
    return {key: Profile(**each) for key, each in body.items()}


class Occupation(_Part):
    """A person's occupation."""

    title: Line
    organization: Annotated[str, Field(max_length=_LONGEST)] = ""
    description: Annotated[str, Field(max_length=_LONGEST)] = ""


class BigFive(_Part):
    """The five traits, each in words."""

    openness: Line
    conscientiousness: Line
    extraversion: Line
    agreeableness: Line
    neuroticism: Line


class Personality(_Part):
    """A person's traits."""

    traits: Lines
    big_five: BigFive


class Preferences(_Part):
    """A person's interests, likes and dislikes."""

    interests: Lines
    likes: Lines
    dislikes: Lines


class GeneratedPersona(_Part):
    """Fields of every generated persona, in the shape of TinyTroupe's agent files.

    Unknown fields, empty texts and ages outside 0 to 120 are refused, so that a model is told and writes it again.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)]
    age: Annotated[int, Field(strict=True, ge=0, le=120)]
    gender: Line
    nationality: Line
    residence: Line
    education: Line
    occupation: Occupation
    style: Line
    personality: Personality
    preferences: Preferences
    beliefs: Lines


Word = Annotated[str, Field(min_length=1, max_length=500)]
Scalar = Word | bool | int | float

_MOST_DIMENSIONS, _MOST_DIRECTIVES, _MOST_VALUES = 40, 100, 60
_LARGEST_POPULATION = 10_000
_ROUNDING = 0.02


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class SamplingDimension(_Frozen):
    """One way in which people differ: a list of values, values with their shares (sum 1), or a range of numbers."""

    name: Word
    values: (
        Annotated[list[Scalar], Field(min_length=1, max_length=_MOST_VALUES)]
        | Annotated[dict[str, float], Field(min_length=1, max_length=_MOST_VALUES)]
        | None
    ) = None
    range: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if (self.values is None) == (self.range is None):
            raise ValueError("give values or a range, and not both")
        if self.range is not None and self.range[0] > self.range[1]:
            raise ValueError("the range ends before it begins")
        if isinstance(self.values, dict):
            shares = list(self.values.values())
            if min(shares) < 0 or abs(sum(shares) - 1.0) > _ROUNDING:
                raise ValueError("the shares must be 0 or more and sum up to 1")
        return self

    def drawn(self, chance: random.Random) -> Any:
        """One value, by the shares where there are any."""
        if self.range is not None:
            return _number(self.range, chance)
        if isinstance(self.values, dict):
            return chance.choices(list(self.values), list(self.values.values()))[0]
        return chance.choice(self.values or [""])


class Dimensions(_Frozen):
    """Stage 1: how the people of a population differ."""

    dimensions: Annotated[list[SamplingDimension], Field(min_length=3, max_length=_MOST_DIMENSIONS)]

    @model_validator(mode="after")
    def _has_names_of_their_own(self) -> Self:
        names = [dimension.name for dimension in self.dimensions]
        if len(set(names)) != len(names):
            raise ValueError("two dimensions have the same name")
        return self


class Directive(_Frozen):
    """A part of the population: what its people have in common and how many there are."""

    id: int | Word
    subpopulation_description: Word
    sampled_values: dict[str, Scalar | Annotated[list[Scalar], Field(min_length=1, max_length=_MOST_VALUES)]]
    quantity: Annotated[int, Field(ge=1, le=_LARGEST_POPULATION)]


class SamplePlan(_Frozen):
    """Stage 2: the directives."""

    sample_plan: Annotated[list[Directive], Field(min_length=1, max_length=_MOST_DIRECTIVES)]


def fitted(quantities: Sequence[int], wanted: int) -> list[int]:
    """Quantities in the same proportions that sum up to ``wanted``, by largest remainders; ties to the earlier one."""
    total = sum(quantities)
    exact = [wanted * quantity / total for quantity in quantities]
    whole = [math.floor(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda place: (whole[place] - exact[place], place))
    for place in by_rest[: wanted - sum(whole)]:
        whole[place] += 1
    return whole


def flattened(dimensions: Dimensions, plan: SamplePlan, size: int, seed: int) -> list[dict[str, Any]]:
    """Stage 3: the characteristics of each of ``size`` people, in an order that the seed draws.

    Ranges and choices are resolved here, by the seed, and not by the model that writes the persona; dimensions that a
    directive says nothing about are drawn, too.
    """
    people: list[dict[str, Any]] = []
    quantities = fitted([directive.quantity for directive in plan.sample_plan], size)
    for place, (directive, quantity) in enumerate(zip(plan.sample_plan, quantities, strict=True)):
        people += [
            _characteristics(dimensions, directive, random.Random(f"{seed}:{place}:{copy}")) for copy in range(quantity)
        ]
    random.Random(f"{seed}:order").shuffle(people)
    return people


def _characteristics(dimensions: Dimensions, directive: Directive, chance: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"description": directive.subpopulation_description}
    for dimension in dimensions.dimensions:
        given = directive.sampled_values.get(dimension.name)
        found[dimension.name] = dimension.drawn(chance) if given is None else _resolved(given, dimension, chance)
    return found


def _resolved(given: Any, dimension: SamplingDimension, chance: random.Random) -> Any:
    if not isinstance(given, list):
        return given
    is_range = dimension.range is not None and len(given) == 2 and all(type(each) in (int, float) for each in given)
    return _number((min(given), max(given)), chance) if is_range else chance.choice(given)


def _number(ends: tuple[float, float], chance: random.Random) -> float | int:
    low, high = ends
    if float(low).is_integer() and float(high).is_integer():
        return chance.randint(int(low), int(high))
    return round(chance.uniform(low, high), 2)


def lines_of(characteristics: Mapping[str, Any]) -> str:
    """A person's characteristics as text for a prompt."""
    return "; ".join(f"{name}: {value}" for name, value in characteristics.items())


PURPOSE = "population"
NAMES_AT_ONCE = 25

DIMENSIONS_TASK = "Say in which ways the people of a population differ, so that a varied sample can be drawn from it."
PLAN_TASK = (
    "Plan a sample of a population: parts of it, what the people in each have in common, and how many there are."
)
NAMES_TASK = "Give names to people, each fitting the description of the person."
PERSONA_TASK = "Write down one person, so that somebody else can play the part."

_DIMENSIONS = """\
Population: {description}
It must cover: {must_cover}

Name 6 to 15 dimensions. Answer with one JSON object:
{{"dimensions": [{{"name": "age", "range": [18, 85]}}, {{"name": "education", "values": ["...", "..."]}},
{{"name": "region", "values": {{"north": 0.4, "south": 0.6}}}}]}}
A dimension has a list of values, or values with their shares (which sum up to 1), or a range of numbers."""

_PLAN = """\
Population: {description}
Dimensions: {dimensions}

Plan {size} people in {parts} parts that differ as much as the population does. Answer with one JSON object:
{{"sample_plan": [{{"id": 1, "subpopulation_description": "who they are", "sampled_values": {{"age": [30, 45],
"education": "..."}}, "quantity": 3}}]}}
The quantities sum up to {size}. A value is one value, a list to choose from, or [lowest, highest] of a range."""

_NAMES = """\
{people}

Give each of these {count} people a first and a last name, no name twice. These are taken: {taken}.
Answer with one JSON object, the names in the order of the list: {{"names": ["...", "..."]}}"""

_PERSONA = """\
Name: {name}
Characteristics: {characteristics}

Answer with one JSON object with exactly these fields, all in words unless said otherwise:
{{"name": "{name}", "age": whole number, "gender": "...", "nationality": "...", "residence": "...", "education": "...",
"occupation": {{"title": "...", "organization": "...", "description": "..."}}, "style": "how the person talks",
"personality": {{"traits": ["...", "..."], "big_five": {{"openness": "...", "conscientiousness": "...",
"extraversion": "...", "agreeableness": "...", "neuroticism": "..."}}}},
"preferences": {{"interests": ["..."], "likes": ["..."], "dislikes": ["..."]}}, "beliefs": ["...", "..."]}}
Be concrete and consistent with the characteristics, also where they are unpleasant."""

_FEWEST_PARTS, _MOST_PARTS = 2, 50
_PEOPLE_PER_PART = 4
_TOKENS_PER_PART = 200
# Some models refuse to be given more; those that may write more get it when they were cut off.
_LARGEST_FIRST_ROOM = 8_000


class _Names(_Frozen):
    names: list[Annotated[str, Field(min_length=1, max_length=100)]]


class AgentFactory:
    """Makes people of one profile.

    Args:
        writer: Asks the model; keeps every answer, so that a broken off population goes on where it was.
        profile: Which kind of people.
        seed: Draws who is in it; part of every question through the writer's salt.
    """

    def __init__(self, writer: Writer, profile: Profile, *, seed: int = 0) -> None:
        self._writer = writer
        self._profile = profile
        self._seed = seed

    async def make(self, size: int, *, made: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
        """``size`` personas with names of their own, always the same for the same seed and answers.

        ``made`` is told of each.

        Raises:
            JSONParseError: The model does not keep to the form.
            JudgeError: The model cannot be asked.
            BudgetSpentError: Nothing more may be spent.
        """
        people = await self.characteristics(size)
        names = await self._names(people)

        async def one(name: str, characteristics: Mapping[str, Any]) -> dict[str, Any]:
            persona = await self._persona(name, characteristics)
            made()
            return persona

        ended = await asyncio.gather(*map(one, names, people), return_exceptions=True)
        # Only when all have ended: what is under way when the budget is spent is paid for, and kept.
        for found in ended:
            if isinstance(found, BaseException):
                raise found
        return [found for found in ended if not isinstance(found, BaseException)]

    async def characteristics(self, size: int) -> list[dict[str, Any]]:
        """Stages 1 to 3: what each of ``size`` people is like, before anybody has a name."""
        profile = self._profile
        text = _DIMENSIONS.format(description=profile.description, must_cover=profile.must_cover)
        dimensions = await self._asked(DIMENSIONS_TASK, text, Dimensions.model_validate, "dimensions")
        parts = min(max(size // _PEOPLE_PER_PART, _FEWEST_PARTS), _MOST_PARTS)
        text = _PLAN.format(
            description=profile.description,
            dimensions=dimensions.model_dump_json(exclude_none=True),
            size=size,
            parts=parts,
        )
        room = min(max(parts * _TOKENS_PER_PART, USUAL_ROOM), _LARGEST_FIRST_ROOM)
        plan = await self._asked(PLAN_TASK, text, SamplePlan.model_validate, "plan", room)
        return flattened(dimensions, plan, size, self._seed)

    async def _names(self, people: Sequence[Mapping[str, Any]]) -> list[str]:
        names: list[str] = []
        for start in range(0, len(people), NAMES_AT_ONCE):
            names += await self._named(people[start : start + NAMES_AT_ONCE], names)
        return names

    async def _named(self, people: Sequence[Mapping[str, Any]], taken: Sequence[str]) -> list[str]:
        listed = "\n".join(f"{number}. {lines_of(each)}" for number, each in enumerate(people, start=len(taken) + 1))
        text = _NAMES.format(people=listed, count=len(people), taken=", ".join(taken) or "none")
        held = {slug_of(name) for name in (FACILITATOR, *taken)}

        def validate(body: dict[str, Any]) -> list[str]:
            names = [name.strip() for name in _Names.model_validate(body).names]
            if len(names) != len(people):
                raise AnswerError(f"there are {len(names)} names for {len(people)} people")
            slugs = [slug_of(name) for name in names]
            twice = [name for name, slug in zip(names, slugs, strict=True) if slugs.count(slug) > 1 or slug in held]
            if twice:
                raise AnswerError(f"these names are taken or stand twice: {', '.join(twice[:10])}")
            return names

        try:
            return await self._asked(NAMES_TASK, text, validate, "names")
        except JSONParseError:
            # A model that cannot count must not stop an experiment of two hundred people.
            return [f"Person {number}" for number in range(len(taken) + 1, len(taken) + len(people) + 1)]

    async def _persona(self, name: str, characteristics: Mapping[str, Any]) -> dict[str, Any]:
        def validate(body: dict[str, Any]) -> GeneratedPersona:
            persona = GeneratedPersona.model_validate(body)
            if persona.name != name:
                raise AnswerError(f"the name should be {name}")
            return persona

        text = _PERSONA.format(name=name, characteristics=lines_of(characteristics))
        persona = await self._asked(PERSONA_TASK, text, validate, name)
        return persona.model_dump(mode="json")

    async def _asked(
        self, task: str, text: str, validate: Validate[Value], subject: str, room: int = USUAL_ROOM
    ) -> Value:
        messages = [{"role": "system", "content": task}, {"role": "user", "content": text}]
        return await self._writer.write_json(messages, validate, purpose=PURPOSE, subject=subject, max_tokens=room)
