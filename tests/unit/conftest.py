"""A short way to write down a discussion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from evaluation.transcript import Message, Player, Transcript

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
    names = list(dict.fromkeys([*players, *(speaker for speaker, _ in [*said, *private])]))
    lines = [(speaker, text, "public") for speaker, text in said] + [(who, text, "private") for who, text in private]
    messages = [
        Message(
            id=f"m{i}",
            index=i,
            round=rounds[i] if rounds else None,
            speaker=who,
            text=text,
            channel=channel,
            reply_to=(replies or {}).get(i),
        )
        for i, (who, text, channel) in enumerate(lines)
    ]
    return Transcript(
        game_id="game",
        source_format="native",
        language=language,
        players=tuple(Player(name=name) for name in names),
        messages=tuple(messages),
    )


@pytest.fixture(scope="session")
def make_game() -> MakeGame:
    """Builds a transcript from (speaker, text) pairs; message ids are m0, m1, ... and ``replies`` maps index to id."""
    return _game
