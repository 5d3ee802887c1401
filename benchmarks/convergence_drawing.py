"""Draw the windows of five messages whose convergence readers label.

``python -m benchmarks.convergence_drawing FILE`` writes ``data/labels/convergence/windows.jsonl``, which names the
windows and their half, and into FILE what the readers see: id, speakers and texts. The draw is seeded and knows no
similarity.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation import read_path
from evaluation.transcript import Message, Transcript

ROOT = Path()
WINDOWS = Path("data/labels/convergence/windows.jsonl")
SEED = 20261125
WINDOW_MESSAGES = 5
QUOTAS = {
    "data/samples/native": 8,
    "data/personas": 4,
    "tests/data/aiwolf": 9,
    "tests/data/llm_werewolf": 11,
    "tests/data/llmafia": 6,
    "tests/data/werewolf_gpt": 9,
    "tests/data/traces/generative_agents": 3,
    "tests/data/traces/chatarena": 3,
    "tests/data/traces/sotopia": 7,
}
"""Windows per source. Sources in which agreement is common have more, as convergent windows are rare elsewhere."""


class Window(NamedTuple):
    """Five messages of one game, from ``first_message`` (an index of the transcript) on."""

    id: str
    source: str
    game: str
    first_message: int
    half: str


def load_games() -> dict[str, list[Transcript]]:
    """The shipped games of each source of ``QUOTAS``, sorted by id."""
    return {
        source: sorted(
            (result.transcript for result in read_path(ROOT / source) if result.transcript is not None),
            key=lambda game: game.game_id,
        )
        for source in QUOTAS
    }


def draw(games: dict[str, list[Transcript]]) -> Iterator[Window]:
    """The windows of each source: seeded, never overlapping, each with two speakers or more.

    The half is that of the id's hash, so that it depends on nothing that is in the messages.
    """
    generator = random.Random(SEED)
    for source, quota in QUOTAS.items():
        pool = [
            (game.game_id, messages[0].index)
            for game in games[source]
            for messages in _windows(game.discussion)
            if len({message.speaker for message in messages}) > 1
        ]
        for game_id, first in sorted(generator.sample(pool, min(quota, len(pool)))):
            window_id = hashlib.sha256(f"{source}:{game_id}:{first}".encode()).hexdigest()[:10]
            yield Window(window_id, source, game_id, first, ("tuning", "kept")[int(window_id, 16) % 2])


def messages_of(window: Window, games: dict[str, list[Transcript]]) -> Sequence[Message]:
    """The five messages of ``window``."""
    (game,) = (game for game in games[window.source] if game.game_id == window.game)
    place = next(place for place, message in enumerate(game.discussion) if message.index == window.first_message)
    return game.discussion[place : place + WINDOW_MESSAGES]


def _windows(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    for start in range(0, len(messages) - WINDOW_MESSAGES + 1, WINDOW_MESSAGES):
        yield messages[start : start + WINDOW_MESSAGES]


def main() -> None:
    """Writes the windows and the file for their readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file: Path = parser.parse_args().file
    games = load_games()
    windows = list(draw(games))
    WINDOWS.parent.mkdir(parents=True, exist_ok=True)
    WINDOWS.write_text("".join(json.dumps(window._asdict()) + "\n" for window in windows), encoding="utf-8")
    shown = [
        {
            "id": window.id,
            "messages": [{"speaker": one.speaker, "text": one.text} for one in messages_of(window, games)],
        }
        for window in sorted(windows, key=lambda window: window.id)
    ]
    file.write_text(json.dumps(shown, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(windows)} windows, {sum(window.half == 'kept' for window in windows)} of them kept")


if __name__ == "__main__":
    main()
