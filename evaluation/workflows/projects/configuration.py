"""Read ``dramaturg.toml``, which says where a project's games lie and what they are held against."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT

FILE_NAME = "dramaturg.toml"
_LARGEST_BYTES = 100_000
_LONGEST_NAME = 100


class ProjectGate(StrEnum):
    """Conditions on every game of a pull request: ``automatic`` as in ``dramaturg evaluate --gate``, or ``none``."""

    AUTOMATIC = "automatic"
    NONE = "none"


def _relative(folder: str) -> str:
    path = PurePosixPath(folder)
    if (
        path.is_absolute()
        or ".." in path.parts
        or path == PurePosixPath()
        or "\\" in folder
        or not folder.isprintable()
    ):
        raise ValueError("it is not a folder inside the project")
    return str(path)


def _one_line(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("it is empty or not printable")
    return name


def _known_thresholds(found: dict[str, float]) -> dict[str, float]:
    for name, value in found.items():
        if name not in DEFINITIONS or name == ENGAGEMENT.name:
            known = ", ".join(each for each in DEFINITIONS if each != ENGAGEMENT.name)
            raise ValueError(f"{name!r} is not one of {known}")
        scale = DEFINITIONS[name].scale
        if not math.isfinite(value) or not scale.low <= value <= scale.high:
            raise ValueError(f"{value} of {name} is not between {scale.low:g} and {scale.high:g}")
    return found


_Name = Annotated[str, Field(max_length=_LONGEST_NAME), AfterValidator(_one_line)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class IterationNames(_Part):
    """Names under which the games of both sides stand in reports and in a database."""

    base: _Name = "base"
    proposed: _Name = "proposed"


class ProjectConfiguration(_Part):
    """Contents of ``dramaturg.toml``; everything has a default.

    Attributes:
        games: The folder with transcripts, relative to the file, with slashes.
        iterations: Names of both sides.
        gate: Condition on every game.
        max_drop: How many points the mean of a metric may fall; ``None`` for any number.
        thresholds: By metric, in points of its scale; the rubric's where one is left out. Engagement has none: nobody
            rates games in a pull request.
    """

    games: Annotated[str, AfterValidator(_relative)] = "games"
    iterations: IterationNames = IterationNames()
    gate: Annotated[ProjectGate, Field(strict=False)] = ProjectGate.AUTOMATIC
    max_drop: Annotated[float, Field(ge=0, le=100, strict=False)] | None = None
    thresholds: Annotated[dict[str, Annotated[float, Field(strict=False)]], AfterValidator(_known_thresholds)] = Field(
        default_factory=dict
    )


def read_configuration(path: Path) -> ProjectConfiguration:
    """The configuration in a file.

    Raises:
        InputError: The file cannot be read, is not TOML, or a value in it cannot be used; the place names the key.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise InputError(f"It cannot be read: {error.strerror or error}.", place=str(path)) from None
    if len(raw) > _LARGEST_BYTES:
        raise InputError(f"It has more than {_LARGEST_BYTES:,} bytes.", place=str(path))
    try:
        found = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"It is not TOML: {error}.", place=str(path), remedy="See docs/ci.md.") from None
    return build_configuration(found, place=str(path))


def build_configuration(values: Mapping[str, Any], *, place: str) -> ProjectConfiguration:
    """The configuration with these values.

    Args:
        values: By key, as TOML holds them.
        place: Where they are from, for errors.

    Raises:
        InputError: A value cannot be used; the place names the key.
    """
    try:
        return ProjectConfiguration.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        message = str(first["msg"]).removeprefix("Value error, ")
        raise InputError(
            f"{message[:1].upper()}{message[1:]}.", place=f"{place}: {key}", remedy="docs/ci.md lists the keys."
        ) from None


def configured(path: Path, *, is_required: bool, games: str | None = None) -> ProjectConfiguration:
    """The configuration in a file, or the default where an optional file is missing.

    Args:
        path: Where it is.
        is_required: Whether a missing file is an error.
        games: The folder with games, in place of the configured one.

    Raises:
        InputError: As :func:`read_configuration`, or ``games`` leads out of the project.
    """
    found = read_configuration(path) if is_required or path.exists() else ProjectConfiguration()
    if games is None:
        return found
    try:
        return found.model_copy(update={"games": _relative(games)})
    except ValueError as error:
        raise InputError(f"{games!r}: {error}.", place="FOLDER", remedy="Name one relative to the project.") from None
