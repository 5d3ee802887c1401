"""The plan behind a population: dimensions, directives with quantities, and one set of characteristics per person.

What a model proposes is checked here; what is drawn is drawn by a seed. No number of parallel calls changes anything.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    is_range = dimension.range is not None and len(given) == 2 and all(_is_number(each) for each in given)
    return _number((min(given), max(given)), chance) if is_range else chance.choice(given)


def _number(ends: tuple[float, float], chance: random.Random) -> float | int:
    low, high = ends
    if float(low).is_integer() and float(high).is_integer():
        return chance.randint(int(low), int(high))
    return round(chance.uniform(low, high), 2)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def lines_of(characteristics: Mapping[str, Any]) -> str:
    """A person's characteristics as text for a prompt."""
    return "; ".join(f"{name}: {value}" for name, value in characteristics.items())
