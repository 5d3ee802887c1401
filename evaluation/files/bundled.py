"""Locate the files that ship with Dramaturg, in a checkout or in the installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.errors import InfrastructureError

_ROOT = Path(__file__).resolve().parents[2]
_BUNDLED = Path(__file__).resolve().parents[1] / "bundled"


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


def proposition_roots(own: Path | None) -> list[Path]:
    """The folders that propositions are loaded from: the shipped one, then the user's own, if there is one."""
    return [proposition_root(), *([own] if own is not None else [])]


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
    """The folder with the shipped game to practise rating on.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("data/practice")


def documentation_root() -> Path:
    """The folder with the documentation that pages show: ``ci.md``, ``formats.md``, ``glossary.md`` and ``metrics.md``.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    return _shipped("docs")


def _shipped(relative: str) -> Path:
    # The build puts these top-level folders of a checkout inside the package; see pyproject.toml.
    checkout = checkout_root()
    folder = checkout / relative if checkout else _BUNDLED / Path(relative).name
    if not folder.is_dir():
        raise InfrastructureError(f"The folder {folder} is missing.", remedy="Install Dramaturg again.")
    return folder


def parse_yaml(text: str) -> Any:
    """The document in ``text``, plain data only.

    Raises:
        yaml.YAMLError: It is none.
    """
    # Imported here, as most commands read no YAML.
    import yaml

    # The loader written in C takes a tenth of the time; PyYAML's wheels carry it, a build from source may not.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)
