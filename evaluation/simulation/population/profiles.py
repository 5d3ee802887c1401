"""The population profiles that ship with Dramaturg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import InputError
from evaluation.files.yaml_data import parse_yaml
from evaluation.files.yaml_models import read_model

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
