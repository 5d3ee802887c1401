"""Which games of two iterations belong together: those played with the same scenario or seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = ("scenario", "seed")

PairKey = tuple[str | None, ...]


def pair_key(metadata: Mapping[str, Any]) -> PairKey | None:
    """Scenario and seed of a game, as its metadata say; ``None`` when they say neither.

    Only plain values are keys: text, whole numbers and the like, compared as text.
    """
    key = tuple(_text(metadata.get(name)) for name in _KEYS)
    return key if any(part is not None for part in key) else None


def paired_games(before: Mapping[str, PairKey | None], after: Mapping[str, PairKey | None]) -> list[tuple[str, str]]:
    """Ids of games that share their key, in the order of ``before``; each game is in one pair at most.

    Of several games with the same key the first of one side goes with the first of the other.
    """
    waiting: dict[PairKey, list[str]] = {}
    for transcript_id, key in after.items():
        if key is not None:
            waiting.setdefault(key, []).append(transcript_id)
    pairs = []
    for transcript_id, key in before.items():
        if key is not None and waiting.get(key):
            pairs.append((transcript_id, waiting[key].pop(0)))
    return pairs


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and value != "" else None
