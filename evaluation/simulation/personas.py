"""Personas as data: the required fields, TinyTroupe's agent and fragment files, and the profiles of populations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from evaluation.errors import InputError
from evaluation.files.bundled import parse_yaml
from evaluation.files.yaml_files import explained, read_model
from evaluation.persona.persona_text import read_agent_file, read_persona_bytes, read_persona_file
from evaluation.simulation.environment import FACILITATOR
from evaluation.text.agent_names import agent_name, require_distinct_agents

_FILE = Path(__file__).with_name("profiles.yaml")


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of population.

    Attributes:
        id: "average-customers", ...
        title: For people.
        description: Who is in it.
        must_cover: What its dimensions have to reach.
    """

    id: str
    title: str
    description: str
    must_cover: str


@cache
def profiles() -> Mapping[str, Profile]:
    """The three profiles by id."""
    body = parse_yaml(_FILE.read_text(encoding="utf-8"))
    return {key: Profile(key, **{name: value.strip() for name, value in each.items()}) for key, each in body.items()}


def profile_named(name: str) -> Profile:
    """The profile of that id, or a person's own by the path of its .yaml file.

    Raises:
        InputError: There is none, or its file is faulty; names the line.
    """
    if name in profiles():
        return profiles()[name]
    path = Path(name).expanduser()
    if path.suffix not in (".yaml", ".yml"):
        remedy = f"Choose from {', '.join(profiles())}, or name a .yaml file."
        raise InputError(f"There is no population {name!r}.", remedy=remedy)
    remedy = "Write 'title', 'description' and 'must_cover'."
    return Profile(path.stem, **read_model(path, _ProfileFile, remedy=remedy).model_dump())


class _ProfileFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    title: Annotated[str, Field(min_length=1, max_length=2_000)]
    description: Annotated[str, Field(min_length=1, max_length=2_000)]
    must_cover: Annotated[str, Field(min_length=1, max_length=2_000)]


AGENT_FILES, FRAGMENT_FILES = "*.agent.json", "*.fragment.json"
LARGEST_FILE = 1_000_000
"""Bytes of a persona's file."""

_LONGEST = 2_000
_MOST = 50
_DEEPEST = 12
_REMEDY = 'A fragment is {"type": "Fragment", "persona": {...}}, as TinyTroupe writes it.'

Line = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
Lines = Annotated[list[Line], Field(min_length=1, max_length=_MOST)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


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


def with_fragments(persona: Mapping[str, Any], fragments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A persona with fragments worked in: mappings are joined, lists get what they lack, in the order given.

    Raises:
        InputError: A fragment contradicts the persona: it gives a single value another content.
    """
    merged: dict[str, Any] = dict(persona)
    for fragment in fragments:
        merged = _joined(merged, fragment, "$")
    return merged


def _joined(base: Mapping[str, Any], more: Mapping[str, Any], place: str) -> dict[str, Any]:
    result = dict(base)
    for key, value in more.items():
        where, held = f"{place}.{key}", result.get(key)
        if place.count(".") > _DEEPEST:
            raise InputError("The fragment is nested too deep.", place=where, remedy=_REMEDY)
        if held in (None, "", [], {}):
            result[key] = value
        elif isinstance(held, dict) and isinstance(value, dict):
            result[key] = _joined(held, value, where)
        elif isinstance(held, list) and isinstance(value, list):
            result[key] = [*held, *(each for each in value if each not in held)]
        elif held != value:
            raise InputError(
                "The fragment contradicts the persona.", place=where, remedy="Take the value out of one of the two."
            )
    return result


class _FragmentFile(BaseModel):
    type: Literal["Fragment"]
    persona: Annotated[
        dict[str, JsonValue], Field(min_length=1), explained("empty or no mapping. Give it at least one field.")
    ]


def read_fragment_file(content: bytes, file: str) -> dict[str, Any]:
    """The additions of a TinyTroupe fragment file to a persona.

    Args:
        content: The file.
        file: Its name, for errors.

    Raises:
        InputError: Not JSON, no fragment, or too large.
    """
    if len(content) > LARGEST_FILE:
        raise InputError(f"The file has more than {LARGEST_FILE:,} bytes.", place=file, remedy=_REMEDY)
    body = read_persona_file(content, file, _FragmentFile, remedy=_REMEDY)
    return dict(body["persona"])


def load_personas(folder: Path, fragments: Sequence[Path] = ()) -> list[dict[str, Any]]:
    """The personas in a folder's ``*.agent.json`` files by file name, each with the fragments worked in.

    Raises:
        InputError: There is none, a file cannot be used, or two personas would be one agent or the facilitator.
    """
    parts = [read_fragment_file(read_persona_bytes(path, LARGEST_FILE), str(path)) for path in fragments]
    found: list[dict[str, Any]] = []
    names = [FACILITATOR]
    for path in sorted(folder.glob(AGENT_FILES)):
        name, persona = read_agent_file(read_persona_bytes(path, LARGEST_FILE), str(path))
        held = dict(persona) if isinstance(persona, dict) else {"description": persona}
        names.append(name)
        found.append(with_fragments(held | {"name": agent_name(name)}, parts))
    if not found:
        raise InputError(f"There is no {AGENT_FILES} file.", place=str(folder), remedy="Name the folder with agents.")
    require_distinct_agents(names, str(folder))
    return found
