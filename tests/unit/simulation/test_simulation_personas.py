"""Personas: what a generated one must hold."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evaluation.simulation.population import GeneratedPersona

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
