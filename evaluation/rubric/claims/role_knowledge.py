"""Knowledge that roles have of their allies, and the sides that revealed roles show (``role_knowledge.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from evaluation.rubric.clauses.grammar import read_data
from evaluation.transcript import Alignment, Player

_NOT_A_LETTER = re.compile(r"[^a-z]+")


def knows_ally(player: Player, other: Player) -> bool:
    """Whether ``player`` knows that ``other`` is on the same, evil side; a player without a role name does.

    Mafia and werewolves know each other; AIWolf's Possessed and the werewolves do not; a Minion of One Night knows the
    werewolves, who do not know the Minion; in Avalon nobody knows Oberon, and Oberon knows nobody.
    """
    if player.alignment != "mafia" or other.alignment != "mafia":
        return False
    return _kind(player.role or "") != "strangers" and _kind(other.role or "") not in ("strangers", "one_way")


def shown_side(role: str, player: Player, source_format: str) -> Alignment | None:
    """The side that a game shows when it reveals ``role``: the player's own, unless it shows that role as another."""
    tables = _data()["shown_as"]
    table: Mapping[str, Alignment] = tables["every"] | tables.get(source_format, {})
    return table.get(_normal(role)) or player.alignment


def sees_at_night(role: str) -> bool:
    """Whether a role, in the singular or plural, learns of another player at night, as the Seer does."""
    return _normal(role).removesuffix("s") in _data()["seeing"]


@cache
def _data() -> Any:
    return read_data("role_knowledge.yaml")


@lru_cache(maxsize=1024)
def _kind(role: str) -> str:
    """``mutual``, ``strangers`` or ``one_way``; a name that is listed as a whole goes before its words."""
    name = _normal(role)
    kinds = ("mutual", "strangers", "one_way")
    for kind in kinds:
        if name in _data()[kind]:
            return kind
    return next((kind for kind in kinds[1:] if not set(name.split()).isdisjoint(_data()[kind])), "mutual")


def _normal(role: str) -> str:
    return " ".join(_NOT_A_LETTER.sub(" ", role.casefold()).split())
