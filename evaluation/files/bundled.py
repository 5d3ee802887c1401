"""Locate the files that ship with Dramaturg, in a checkout or in the installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from evaluation.errors import InfrastructureError

_ROOT = Path(__file__).resolve().parents[2]
_BUNDLED = Path(__file__).resolve().parents[1] / "bundled"


def checkout_root() -> Path | None:
    """The top folder of the checkout that this code runs from; ``None`` when it is installed."""
    return _ROOT if (_ROOT / "pyproject.toml").is_file() else None


Shipped = Literal[
    "data/samples", "data/personas", "data/recordings", "data/baselines", "data/practice", "propositions", "docs"
]


def shipped(folder: Shipped) -> Path:
    """A folder that ships with Dramaturg.

    Transcripts, agents with their personas and what they say, recordings of judges' answers, golden baselines of these
    agents, the game to practise rating on, propositions (a sub-folder per dimension), and the pages that are shown.

    Raises:
        InfrastructureError: The folder is not there; the installation is damaged.
    """
    # The build puts these top-level folders of a checkout inside the package; see pyproject.toml.
    checkout = checkout_root()
    place = checkout / folder if checkout else _BUNDLED / Path(folder).name
    if not place.is_dir():
        raise InfrastructureError(f"The folder {place} is missing.", remedy="Install Dramaturg again.")
    return place


def proposition_roots(own: Path | None) -> list[Path]:
    """The folders that propositions are loaded from: the shipped one, then the user's own, if there is one."""
    return [shipped("propositions"), *([own] if own is not None else [])]


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
