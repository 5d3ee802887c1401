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
    ("names", "taken"), [(("Ann-Lee", "ann lee ", "Bob"), "Ann-Lee"), (("facilitator",), "Facilitator")]
)
def test_two_that_would_be_one_agent_are_refused_with_both_names(
    tmp_path: Path, names: tuple[str, ...], taken: str
) -> None:
    write_personas(tmp_path, *names)
    with pytest.raises(InputError) as refused:
        load_personas(tmp_path)
    given = next(name.strip() for name in names if name != taken)
    assert refused.value.message == f"The names {taken!r} and {given!r} would be one agent."


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
