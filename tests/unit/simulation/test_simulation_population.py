"""Populations: quantities, characteristics, and people that a model writes, whole or broken off."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from evaluation.errors import JSONParseError
from evaluation.judging.model_client.calls import LLMResponse
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.simulation.model_texts import Generation, Writer
from evaluation.simulation.population import (
    NAMES_TASK,
    PLAN_TASK,
    AgentFactory,
    Dimensions,
    GeneratedPersona,
    SamplePlan,
    SamplingDimension,
    fitted,
    flattened,
    profiles,
)
from evaluation.simulation.scripted_world import ScriptedProvider, ScriptedWorld
from evaluation.text.agent_names import slug_of

DIMENSIONS = Dimensions.model_validate(
    {
        "dimensions": [
            {"name": "age", "range": [18, 80]},
            {"name": "mood", "values": {"good": 1.0, "bad": 0.0}},
            {"name": "town", "values": ["Ayr", "Bonn"]},
        ]
    }
)


def plan(*quantities: int) -> SamplePlan:
    return SamplePlan.model_validate(
        {
            "sample_plan": [
                {
                    "id": number,
                    "subpopulation_description": f"part {number}",
                    "sampled_values": {"age": [30, 35], "town": ["Ayr"]},
                    "quantity": quantity,
                }
                for number, quantity in enumerate(quantities)
            ]
        }
    )


class Unsteady(ScriptedProvider):
    """Answers out of order, as servers do."""

    def __init__(self) -> None:
        super().__init__(ScriptedWorld())
        self.names = 0

    async def complete(self, messages: Any, **options: Any) -> LLMResponse:
        answer = await super().complete(messages, **options)
        for _ in range(len(answer.content) % 7):
            await asyncio.sleep(0)
        if messages[0]["content"] == NAMES_TASK:
            self.names += 1
        return answer


class Memory:
    """Keeps texts in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, Generation] = {}

    def of_scope(self, scope: str) -> dict[str, Generation]:
        return dict(self.kept)

    def keep(self, generations: Sequence[Generation], calls: Sequence[Any] = ()) -> None:
        self.kept |= {one.key: one for one in generations}


def population(size: int, concurrency: int, seed: int = 0, cache: Memory | None = None) -> tuple[list[Any], Unsteady]:
    provider = Unsteady()

    async def make() -> list[Any]:
        writer = Writer(LLMClient(provider, concurrency=concurrency), cache=cache, salt=seed)
        return await AgentFactory(writer, profiles()["average-customers"], seed=seed).make(size)

    return asyncio.run(make()), provider


def test_quantities_are_fitted_by_largest_remainders() -> None:
    # 10 * 5/9 = 5.56, 10 * 3/9 = 3.33, 10 * 1/9 = 1.11: 5 + 3 + 1, and the one that is left goes to .56.
    assert fitted([5, 3, 1], 10) == [6, 3, 1]
    assert fitted([1, 1, 1], 2) == [1, 1, 0]


def test_characteristics_are_drawn_within_what_the_plan_says() -> None:
    people = flattened(DIMENSIONS, plan(2, 1), 6, seed=4)
    # 6 * 2/3 = 4 and 6 * 1/3 = 2.
    assert sorted(each["description"] for each in people) == ["part 0"] * 4 + ["part 1"] * 2
    assert all(30 <= each["age"] <= 35 and each["town"] == "Ayr" and each["mood"] == "good" for each in people)
    assert people == flattened(DIMENSIONS, plan(2, 1), 6, seed=4)
    assert people != flattened(DIMENSIONS, plan(2, 1), 6, seed=5)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a"},
        {"name": "a", "values": ["x"], "range": [0, 1]},
        {"name": "a", "range": [2, 1]},
        {"name": "a", "values": {"x": 0.5, "y": 0.1}},
        {"name": "a", "values": {"x": 1.5, "y": -0.5}},
    ],
)
def test_a_dimension_is_values_or_a_range(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SamplingDimension.model_validate(body)


def test_a_population_is_the_same_whatever_the_concurrency() -> None:
    alone, provider = population(40, 1)
    together, _ = population(40, 32)
    assert alone == together
    assert len({slug_of(each["name"]) for each in alone}) == 40
    # Two rounds of at most 25 names; the second knows the first.
    assert provider.names == 2
    for each in alone:
        assert GeneratedPersona.model_validate(each).name == each["name"]
    assert population(40, 1, seed=1)[0] != alone


def test_a_population_that_was_broken_off_goes_on_where_it_was() -> None:
    cache = Memory()
    whole, first = population(8, 4, cache=cache)
    # Dimensions, plan, names, and 8 personas.
    assert first.asked == 11
    for key in list(cache.kept)[-3:]:
        del cache.kept[key]
    again, second = population(8, 4, cache=cache)
    assert again == whole
    assert second.asked == 3


def test_a_model_that_cannot_name_people_does_not_end_the_experiment() -> None:
    class Nameless(ScriptedProvider):
        async def complete(self, messages: Any, **options: Any) -> LLMResponse:
            if messages[0]["content"] == NAMES_TASK:
                return LLMResponse(json.dumps({"names": ["Ann", "Ann", "Facilitator"]}), "x")
            return await super().complete(messages, **options)

    async def make() -> list[Any]:
        writer = Writer(LLMClient(Nameless(ScriptedWorld())))
        return await AgentFactory(writer, profiles()["political-compass"]).make(3)

    assert [each["name"] for each in asyncio.run(make())] == ["Person 1", "Person 2", "Person 3"]


class Wordy(ScriptedProvider):
    """Plans with the given number of tokens for a part, and is cut off where there is no room for them."""

    def __init__(self, tokens_per_part: int) -> None:
        super().__init__(ScriptedWorld())
        self.tokens_per_part = tokens_per_part
        self.rooms: list[int] = []

    async def complete(self, messages: Any, **options: Any) -> LLMResponse:
        answer = await super().complete(messages, **options)
        if messages[0]["content"] != PLAN_TASK:
            return answer
        self.rooms.append(options["max_tokens"])
        needed = len(json.loads(answer.content)["sample_plan"]) * self.tokens_per_part
        is_cut_off = needed > options["max_tokens"]
        return LLMResponse(answer.content[:100] if is_cut_off else answer.content, "x", is_cut_off=is_cut_off)


@pytest.mark.parametrize(
    ("size", "tokens_per_part", "rooms"),
    [
        # 200 people are planned in 50 parts, 120 in 30, which is 30 * 200 = 6,000; 80 in 20, which is the usual room.
        (200, 150, [8_000]),
        (120, 180, [6_000]),
        (80, 180, [4_000]),
        (80, 390, [4_000, 8_000]),
        (200, 300, [8_000, 16_000]),
    ],
)
def test_a_large_plan_has_the_room_that_it_needs(size: int, tokens_per_part: int, rooms: list[int]) -> None:
    cache = Memory()
    found, first = characteristics(size, Wordy(tokens_per_part), cache)
    assert first.rooms == rooms
    assert found == characteristics(size, Wordy(0))[0]
    # What was cut off is known too: going on asks nothing, and makes the same people.
    again, second = characteristics(size, Wordy(tokens_per_part), cache)
    assert (again, second.asked) == (found, 0)


def test_a_plan_that_is_too_long_for_any_model_says_so() -> None:
    provider = Wordy(20_000)
    with pytest.raises(JSONParseError, match="cut off after 16,000 tokens"):
        characteristics(200, provider)
    assert provider.rooms == [8_000, 16_000, 16_000, 16_000]


def characteristics(size: int, provider: Wordy, cache: Memory | None = None) -> tuple[list[Any], Wordy]:
    factory = AgentFactory(Writer(LLMClient(provider), cache=cache), profiles()["average-customers"])
    return asyncio.run(factory.characteristics(size)), provider


def test_there_are_three_profiles() -> None:
    told = {name: f"{one.description} {one.must_cover}" for name, one in profiles().items()}
    assert list(told) == ["average-customers", "difficult-customers", "political-compass"]
    average, difficult, political = told.values()
    assert "United States" in average
    assert "five traits of the Big Five from low to high" in average
    assert "Low agreeableness in everybody" in difficult
    assert "confrontational and sceptical" in difficult
    assert "Economic position from far left to far right, authority from libertarian to authoritarian" in political


BIG_FIVE = dict.fromkeys(("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"), "High.")


def persona(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Ann Lee",
        "age": 40,
        "gender": "female",
        "nationality": "American",
        "residence": "Ohio",
        "education": "A trade.",
        "occupation": {"title": "welder"},
        "style": "Blunt.",
        "personality": {"traits": ["You doubt."], "big_five": BIG_FIVE},
        "preferences": {"interests": ["Bees"], "likes": ["Rain"], "dislikes": ["Noise"]},
        "beliefs": ["Good things take time."],
    } | changes


@pytest.mark.parametrize(
    "changes",
    [{"age": "40"}, {"age": 121}, {"name": " "}, {"beliefs": []}, {"secret": "x"}, {"personality": {"traits": ["a"]}}],
)
def test_a_persona_that_lacks_something_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GeneratedPersona.model_validate(persona(**changes))
