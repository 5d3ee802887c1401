"""Keep what was made of a game or an iteration until what it was made of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")

KEPT_GAMES = 200_000
"""Above so many games everything is made again each time: what is kept of one takes some kilobytes."""


class KeptValues(Generic[Value]):
    """The latest value under each key, with what it was made of. Safe for threads; nobody changes the values.

    Args:
        most: With more keys than that all are forgotten.
    """

    def __init__(self, most: int = KEPT_GAMES) -> None:
        self._most = most
        self._held: dict[str, tuple[tuple[object, ...], Value]] = {}

    def get(self, key: str, source: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """The value that is held if it was made of an equal ``source``, else what ``make`` returns, which is held then.

        Objects in ``source`` that are the same are not compared any further.
        """
        held = self._held.get(key)
        return held[1] if held is not None and held[0] == source else self._keep(key, source, make())

    def get_many(
        self, sources: Mapping[str, tuple[object, ...]], make: Callable[[list[str]], Mapping[str, Value]]
    ) -> dict[str, Value]:
        """The same for many keys with their sources; ``make`` returns the values of those that are not held."""
        found = {key: held[1] for key in sources if (held := self._held.get(key)) and held[0] == sources[key]}
        missing = [key for key in sources if key not in found]
        for key, made in make(missing).items() if missing else ():
            found[key] = self._keep(key, sources[key], made)
        return {key: found[key] for key in sources}

    def _keep(self, key: str, source: tuple[object, ...], made: Value) -> Value:
        if len(self._held) >= self._most:
            self._held.clear()
        self._held[key] = (source, made)
        return made
