"""Personas: TinyTroupe's files, fragments worked in, and what a generated one must hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluation.errors import InputError
from evaluation.simulation.population import GeneratedPersona, load_personas, read_fragment_file, with_fragments

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


def test_all_agent_and_fragment_files_of_tinytroupe_can_be_used(data_root: Path) -> None:
    folder = data_root / "tinytroupe"
    fragments = sorted((folder / "fragments").glob("*.json"))
    plain = load_personas(folder / "agents")
    assert [each["name"] for each in plain] == [
        "Friedrich Wolf",
        "Lila",
        "Lisa Carter",
        "Marcos Almeida",
        "Oscar",
        "Sophie Lefevre",
    ]
    assert len(fragments) == 9
    for fragment in fragments:
        assert len(load_personas(folder / "agents", [fragment])) == 6
    [lila] = [each for each in load_personas(folder / "agents", [fragments[0]]) if each["name"] == "Lila"]
    assert "Winning a debate is always a matter of honor and pride." in lila["beliefs"]
    assert set(plain[1]["beliefs"]) < set(lila["beliefs"])


def test_fragments_add_to_lists_once_and_fill_what_is_empty() -> None:
    joined = with_fragments(
        {"name": "A", "likes": ["tea"], "job": {"title": "nurse"}, "style": ""},
        [{"likes": ["tea", "rain"], "job": {"hours": "nights"}, "style": "Dry."}],
    )
    assert joined == {
        "name": "A",
        "likes": ["tea", "rain"],
        "job": {"title": "nurse", "hours": "nights"},
        "style": "Dry.",
    }


def test_a_contradiction_names_its_place() -> None:
    with pytest.raises(InputError, match=r"\$\.job\.title: The fragment contradicts the persona"):
        with_fragments({"job": {"title": "nurse"}}, [{"job": {"title": "pilot"}}])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "Not valid JSON"),
        (b'{\n"type": "TinyPerson", "persona": {"name": "A"}}', "json:2: type: It should be 'Fragment'"),
        (b'{"type": "Fragment", "persona": {}}', "json:1: persona: A mapping is empty"),
        (b" " * 1_000_001, "more than 1,000,000 bytes"),
        (b"[" * 100_000, "nested deeper"),
    ],
)
def test_bad_fragments_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_fragment_file(content, "x.fragment.json")


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
