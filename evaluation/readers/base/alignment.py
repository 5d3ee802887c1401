"""The side that a role plays for, from the names listed in ``alignments.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from evaluation.files.yaml_data import parse_yaml
from evaluation.transcript import Alignment

_NOT_A_LETTER = re.compile(r"[^a-z]+")


@lru_cache(maxsize=1024)
def alignment_of(role: str | None) -> Alignment | None:
    """The side of a role: ``mafia`` (the informed minority) or ``town``; ``None`` for unknown and neutral roles.

    The whole name decides where it is listed ("MAFIA", "werewolf-hunter"); else its words do ("Alpha Werewolf"), one
    of the minority before one of the town, since "evil villager" is evil. Plurals count ("bystanders").
    """
    words = _NOT_A_LETTER.sub(" ", (role or "").casefold()).split()
    whole = _listed(" ".join(words))
    if whole is not None or len(words) < 2:
        return _side(whole)
    sides = {_listed(word) for word in words}
    return "mafia" if "mafia" in sides else "town" if "town" in sides else None


def _listed(name: str) -> str | None:
    names = _alignments()
    return names.get(name) or names.get(name.removesuffix("s"))


def _side(listed: str | None) -> Alignment | None:
    return "mafia" if listed == "mafia" else "town" if listed == "town" else None


@cache
def _alignments() -> Mapping[str, str]:
    content = parse_yaml(files("evaluation.readers.base").joinpath("alignments.yaml").read_text(encoding="utf-8"))
    return {name: side for side, names in content.items() for name in names}
