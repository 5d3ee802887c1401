"""Personas: TinyTroupe's files, and what a generated one must hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluation.errors import InputError
from evaluation.simulation.population import GeneratedPersona, load_personas

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


def write_personas(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        text = json.dumps({"persona": {"name": name}})
        (folder / f"{number}.agent.json").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("first", "second"),
    [("Ann", "Ann"), ("Ann", "ann "), ("Ann-Lee", "ann lee"), ("Zo\u00eb", "Zoe\u0308"), ("Ann", "A\u200bnn")],
)
def test_two_personas_that_would_be_one_agent_are_refused_with_both_names(
    tmp_path: Path, first: str, second: str
) -> None:
    write_personas(tmp_path, first, second, "Bob")
    with pytest.raises(InputError) as refused:
        load_personas(tmp_path)
    assert refused.value.message == f"The names {first!r} and {second.strip()!r} would be one agent."


def test_the_name_of_the_facilitator_is_taken(tmp_path: Path) -> None:
    write_personas(tmp_path, "facilitator")
    with pytest.raises(InputError, match="'Facilitator' and 'facilitator' would be one agent"):
        load_personas(tmp_path)


def test_personas_whose_names_differ_in_signs_are_all_loaded(tmp_path: Path) -> None:
    names = ["मीना", "मोना", "मैना", "C", "C++"]
    write_personas(tmp_path, *names)
    assert [one["name"] for one in load_personas(tmp_path)] == names


@pytest.mark.parametrize(
    "changes",
    [{"age": "40"}, {"age": 121}, {"name": " "}, {"beliefs": []}, {"secret": "x"}, {"personality": {"traits": ["a"]}}],
)
def test_a_persona_that_lacks_something_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GeneratedPersona.model_validate(persona(**changes))
