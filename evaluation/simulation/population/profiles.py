"""The population profiles that ship with Dramaturg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.errors import InputError
from evaluation.files.yaml_data import parse_yaml

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
    """The profile of that id.

    Raises:
        InputError: There is none.
    """
    if name not in profiles():
        raise InputError(f"There is no population {name!r}.", remedy=f"Choose from {', '.join(profiles())}.")
    return profiles()[name]
