"""Names in a file: players, moderators and abstentions, and the side that a role plays for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files

from evaluation.files.bundled import parse_yaml
from evaluation.files.strict_json import shorten
from evaluation.transcript import Alignment

_NOT_A_LETTER = re.compile(r"[^a-z]+")
_MODERATORS = frozenset(
    {"announcer", "environment", "game", "gamehost", "gamemanager", "gamemaster", "gm", "host", "mod", "moderator"}
    | {"god", "judge", "dungeonmaster", "gamesystem", "gamemanager", "narrator", "referee", "server"}
    | {"storyteller", "system", "thegamemaster", "thehost", "themoderator", "thenarrator", "thestoryteller"}
)
_ABSTENTIONS = frozenset({"abstain", "abstained", "nobody", "noone", "none", "novote", "null", "pass", "skip"})
_MOST_SHOWN = 12


def is_moderator(name: str) -> bool:
    """Whether a name or role is that of somebody who leads the game and does not play ("Game-Manager", "narrator")."""
    return _letters(name) in _MODERATORS


def is_abstention(target: str | None) -> bool:
    """Whether a vote's target says that nobody was chosen ("abstain", "no one", nothing at all)."""
    return target is None or not any(map(str.isalnum, target)) or _letters(target) in _ABSTENTIONS


class Roster:
    """The players of one game; case and space around a name do not matter when they are looked up."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._exact = frozenset(self.names)
        self._folded: dict[str, str | None] = {}
        for name in self.names:
            key = _folded(name)
            # Two players whose names differ in case only are told apart by their exact names alone.
            self._folded[key] = None if key in self._folded else name

    def find(self, name: str) -> str | None:
        """The player's name as the game lists it, or ``None`` for somebody else."""
        return name if name in self._exact else self._folded.get(_folded(name))

    def __str__(self) -> str:
        """The names for an error message, a dozen at most."""
        shown = ", ".join(shorten(name) for name in self.names[:_MOST_SHOWN])
        more = len(self.names) - _MOST_SHOWN
        return f"{shown} and {more} more" if more > 0 else shown


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _letters(name: str) -> str:
    return _NOT_A_LETTER.sub("", name.casefold())


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
