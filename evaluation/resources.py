"""Where the files that come with Dramaturg lie: in a checkout, or inside the package once installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.data_file import parse_yaml
from evaluation.errors import InfrastructureError, InputError

_ROOT = Path(__file__).resolve().parent.parent
_BUNDLED = Path(__file__).resolve().parent / "bundled"
_MANIFEST = "manifest.yaml"


class SampleDecision(NamedTuple):
    """What a person decided on the change of a sample iteration: ``kept`` or ``reverted``."""

    choice: str
    who: str
    reason: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class SampleIteration:
    """One prompt version among the samples; ``games`` in the order in which they were played."""

    name: str
    parent: str | None
    prompt_text: str
    change: str
    target_metric: str | None
    is_baseline: bool
    games: tuple[Path, ...]
    decision: SampleDecision | None = None


@dataclass(frozen=True, slots=True)
class SampleManifest:
    """The shipped games: those of iterations, and those that belong to none. All paths are absolute."""

    iterations: tuple[SampleIteration, ...]
    games: tuple[Path, ...]


def checkout_root() -> Path | None:
    """The top folder of the checkout that this code runs from; ``None`` when it is installed."""
    return _ROOT if (_ROOT / "pyproject.toml").is_file() else None


def sample_root() -> Path:
    """The folder with the shipped transcripts.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/samples")


def proposition_root() -> Path:
    """The folder with the shipped propositions, one sub-folder per dimension.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("propositions")


def persona_root() -> Path:
    """The folder with the shipped agents: their personas and what they say.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/personas")


def recording_root() -> Path:
    """The folder with the shipped recordings of judges' answers.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/recordings")


def baseline_root() -> Path:
    """The folder with the golden baselines of the shipped agents.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/baselines")


def practice_root() -> Path:
    """The folder with the shipped games to practise rating on.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/practice")


def _shipped(relative: str) -> Path:
    # The build puts these top-level folders of a checkout inside the package; see pyproject.toml.
    checkout = checkout_root()
    folder = checkout / relative if checkout else _BUNDLED / Path(relative).name
    if not folder.is_dir():
        raise InfrastructureError(f"The folder {folder} is missing.", remedy="Install Dramaturg again.")
    return folder


def load_manifest(root: Path | None = None) -> SampleManifest:
    """Which shipped game belongs to which iteration.

    Args:
        root: The folder that holds ``manifest.yaml``; the shipped samples when left out.

    Raises:
        InputError: The manifest is not as its first comment describes, or names a file that is not there.
    """
    import yaml

    folder = root or sample_root()
    path = folder / _MANIFEST
    try:
        body = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"The manifest cannot be read: {error}.", place=str(path)) from None
    top = _mapping(body, str(path))
    iterations = tuple(
        _iteration(_mapping(entry, f"{path}: iterations[{position}]"), folder, f"{path}: iterations[{position}]")
        for position, entry in enumerate(_list(top, "iterations", str(path)))
    )
    return SampleManifest(iterations, _games(top, folder, str(path)))


def _iteration(entry: Mapping[str, Any], folder: Path, place: str) -> SampleIteration:
    name = _text(entry, "name", place)
    if not name:
        raise InputError("An iteration has no name.", place=f"{place}.name", remedy="Give it one.")
    return SampleIteration(
        name=name,
        parent=_text(entry, "parent", place),
        prompt_text=_text(entry, "prompt_text", place) or "",
        change=_text(entry, "change", place) or "",
        target_metric=_text(entry, "target_metric", place),
        is_baseline=entry.get("baseline") is True,
        games=_games(entry, folder, place),
        decision=_decision(entry, f"{place}.decision"),
    )


def _decision(entry: Mapping[str, Any], place: str) -> SampleDecision | None:
    if entry.get("decision") is None:
        return None
    given = _mapping(entry["decision"], place)
    choice, who, reason, note = (_text(given, key, place) or "" for key in SampleDecision._fields)
    if choice not in ("kept", "reverted"):
        raise InputError(f"{choice!r} is no decision.", place=f"{place}.choice", remedy="Write kept or reverted.")
    return SampleDecision(choice, who, reason, note)


def _games(entry: Mapping[str, Any], folder: Path, place: str) -> tuple[Path, ...]:
    paths = []
    for position, relative in enumerate(_list(entry, "games", place)):
        path = folder / str(relative)
        if not path.exists():
            raise InputError(
                f"There is no {relative!r}.", place=f"{place}.games[{position}]", remedy="Correct the path."
            )
        paths.append(path)
    return tuple(paths)


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{value!r} is not a mapping.", place=place, remedy="See the manifest's first comment.")
    return value


def _list(entry: Mapping[str, Any], key: str, place: str) -> Sequence[Any]:
    value = entry.get(key) or []
    if not isinstance(value, list):
        raise InputError(
            f"{value!r} is not a list.", place=f"{place}.{key}", remedy="See the manifest's first comment."
        )
    return value


def _text(entry: Mapping[str, Any], key: str, place: str) -> str | None:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{value!r} is not text.", place=f"{place}.{key}", remedy="Put it in quotes.")
    return value
