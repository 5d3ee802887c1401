"""A short way to write down a discussion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from evaluation.store import Store
from evaluation.transcript import Transcript
from tests.games import game_of

MakeGame = Callable[..., Transcript]


def _game(
    said: Sequence[tuple[str, str]],
    *,
    players: Sequence[str] = (),
    replies: Mapping[int, str] | None = None,
    private: Sequence[tuple[str, str]] = (),
    language: str | None = None,
    rounds: Sequence[int] = (),
) -> Transcript:
    lines = [
        (
            who,
            text,
            {
                "round": rounds[place] if rounds else None,
                "channel": "public" if place < len(said) else "private",
                "reply_to": (replies or {}).get(place),
            },
        )
        for place, (who, text) in enumerate([*said, *private])
    ]
    names = list(dict.fromkeys([*players, *(line[0] for line in lines)]))
    return game_of(lines, names, game_id="game", source_format="native", language=language)


@pytest.fixture(scope="session")
def make_game() -> MakeGame:
    """Builds a transcript from (speaker, text) pairs; message ids are m0, m1, ... and ``replies`` maps index to id."""
    return _game


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with_nothing = Store(":memory:")
    yield with_nothing
    with_nothing.close()
