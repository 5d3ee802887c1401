"""Draw the labelled sets of ``data/labels`` from the real games, and write what their readers see.

``python -m benchmarks.label_drawing FOLDER`` writes ``data/labels/drawn.jsonl``, and into FOLDER one document per game.
The draw knows neither rules nor verdicts: it is seeded, and messages for the set of references only have to hold a
word of a broad list of past tenses and times.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation import read_path
from evaluation.transcript import Message, Transcript

GAMES = Path("tests/data")
SOURCES = ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")
DRAWN = Path("data/labels/drawn.jsonl")
SEED = 20261122
SIZES = {"references": 300, "coherence": 400, "acts": 400, "depth": 150}
READ_TWICE = 100
# The rules of the game, which some moderators repeat to every player, are cut.
MODERATOR_LENGTH = 400
# One model wrote the same words for pages.
MESSAGE_LENGTH = 3000
_PAST = re.compile(
    r"\w+ed\b|\b(was|were|did|didn'?t|had|has|have|been|said|told|got|went|made|gave|came|took|saw|knew|thought|kept|left"
    r"|chose|vote|votes|round|last|earlier|previous|previously|yesterday|before|ago|first|already|never|always|night"
    r"|again|since|just|result|divined?)\b",
    re.IGNORECASE,
)


class Drawn(NamedTuple):
    """One message of one set: in which half of the games it lies, and whether two people read it."""

    set_name: str
    source: str
    game: str
    message: int
    half: str
    is_read_twice: bool


def load_games() -> list[tuple[str, Transcript]]:
    """The 26 real games of ``tests/data`` in which roles are played, each with its source, sorted by source and id."""
    found = [
        (source, result.transcript)
        for source in SOURCES
        for result in read_path(GAMES / source)
        if result.transcript is not None
    ]
    return sorted(found, key=lambda game: (game[0], game[1].game_id))


def draw(games: Sequence[tuple[str, Transcript]]) -> Iterator[Drawn]:
    """The messages of each set. Of each source, every second game in a shuffled order is kept for the final figure."""
    generator = random.Random(SEED)
    half: dict[str, str] = {}
    for source in SOURCES:
        own = [game.game_id for of, game in games if of == source]
        generator.shuffle(own)
        half |= {game: ("tuning", "kept")[place % 2] for place, game in enumerate(own)}
    for set_name, size in SIZES.items():
        pool = [
            (source, game.game_id, message.index)
            for source, game in games
            for place, message in enumerate(game.discussion)
            if _is_candidate(set_name, place, message)
        ]
        chosen = generator.sample(pool, min(size, len(pool)))
        for place, (source, game_id, index) in enumerate(chosen):
            yield Drawn(set_name, source, game_id, index, half[game_id], place < READ_TWICE)


def _is_candidate(set_name: str, place: int, message: Message) -> bool:
    if set_name == "coherence":
        return place > 0
    return set_name != "references" or _PAST.search(message.text) is not None


def reading_document(game: Transcript, marks: dict[int, str]) -> str:
    """What a reader sees of a game: players, public and moderator messages, votes and eliminations; roles at the end.

    Args:
        game: The game.
        marks: By index of the message: the letters of the sets for which it is to be labelled.
    """
    lines = [f"GAME {game.game_id}", "Players: " + ", ".join(game.player_names), ""]
    for message in game.messages:
        when = f"round {message.round} {message.phase or ''}".strip()
        text = " ".join(message.text.split())
        if message.channel == "system":
            lines.append(f"        ({when}) MODERATOR: {text[:MODERATOR_LENGTH]}")
        elif message in game.discussion:
            mark = f" <{marks[message.index]}>" if message.index in marks else ""
            lines.append(f"[{message.index}]{mark} ({when}) {message.speaker}: {text[:MESSAGE_LENGTH]}")
    lines += ["", "RECORD, votes:"]
    lines += [f"  round {vote.round} {vote.phase or ''}: {vote.voter} -> {vote.target}" for vote in game.valid_votes]
    lines += ["RECORD, eliminations:"]
    lines += [f"  round {one.round} {one.phase or ''}: {one.player} (shown: {one.role})" for one in game.eliminations]
    lines += ["RECORD, roles (players do not know them):"]
    lines += [f"  {player.name}: {player.role} ({player.alignment})" for player in game.players]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draw, and write the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the documents for readers are written")
    folder = parser.parse_args().folder
    games = load_games()
    drawn = list(draw(games))
    DRAWN.write_text("".join(json.dumps(one._asdict()) + "\n" for one in drawn), encoding="utf-8")
    for reading, is_second in (("first", False), ("second", True)):
        (folder / reading).mkdir(parents=True, exist_ok=True)
        for _, game in games:
            marks: dict[int, str] = {}
            for one in drawn:
                if one.game == game.game_id and (one.is_read_twice or not is_second):
                    marks[one.message] = marks.get(one.message, "") + one.set_name[0].upper()
            (folder / reading / f"{game.game_id}.txt").write_text(reading_document(game, marks), encoding="utf-8")
    print(f"{len(drawn)} messages drawn from {len(games)} games")


if __name__ == "__main__":
    main()
