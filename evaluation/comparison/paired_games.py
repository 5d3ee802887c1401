"""Pair games of two iterations that were played with the same scenario or seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PairKey = tuple[str | None, str | None]
"""Scenario and seed; ``None`` where a game's metadata do not say."""


def pair_key(metadata: Mapping[str, Any]) -> PairKey | None:
    """Scenario and seed of a game, as its metadata say; ``None`` when they say neither.

    Only plain values are keys: text, whole numbers and the like, compared as text.
    """
    key = _text(metadata.get("scenario")), _text(metadata.get("seed"))
    return key if any(part is not None for part in key) else None


def paired_games(before: Mapping[str, PairKey | None], after: Mapping[str, PairKey | None]) -> list[tuple[str, str]]:
    """Ids of games that share a scenario or seed, in the order of ``before``; each game is in one pair at most.

    Games that share both find each other first, then those of one scenario, whatever their seeds: they meet the same
    situation. Last come those of one seed, but never of two different scenarios: there the seed draws other things, and
    the games have nothing in common. What is not known is like nothing. Within each of the three, the first of one side
    goes with the first of the other.
    """
    pairs: dict[str, str] = {}
    for part in _PARTS:
        taken = set(pairs.values())
        waiting: dict[str | PairKey, list[tuple[str, PairKey]]] = {}
        for other, key in after.items():
            if key is not None and other not in taken and (shared := part(key)) is not None:
                waiting.setdefault(shared, []).append((other, key))
        for one, key in before.items():
            if key is None or one in pairs or (shared := part(key)) is None:
                continue
            found = next((held for held in waiting.get(shared, ()) if not _differ(key, held[1])), None)
            if found is not None:
                pairs[one] = found[0]
                waiting[shared].remove(found)
    return [(one, pairs[one]) for one in before if one in pairs]


_PARTS: tuple[Callable[[PairKey], str | PairKey | None], ...] = (
    lambda key: None if None in key else key,
    lambda key: key[0],
    lambda key: key[1],
)


def _differ(one: PairKey, other: PairKey) -> bool:
    """Whether the scenarios of both are known, and not the same."""
    return one[0] is not None and other[0] is not None and one[0] != other[0]


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and value != "" else None
