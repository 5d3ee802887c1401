"""Resolve a name in a file to a player, to the moderator, or to no known person."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evaluation.files.strict_json import shorten

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
