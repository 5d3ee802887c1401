"""The labelled games of ``data/labels``: transcripts, what readers said of them, and the half of each game."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.reader_examples import LabelledGame, Labels
from evaluation import read_path
from evaluation.transcript import Transcript

REAL = Path("tests/data")
SOURCES = ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")
LABELS = Path("data/labels")
Half = Literal["tuning", "kept", "kept source", "synthetic"]
EVERY: tuple[Half, ...] = ("tuning", "kept", "kept source", "synthetic")
Key = tuple[str, int]
"""A message: the id of its game, and its index."""


def load_games() -> list[tuple[str, Transcript]]:
    """The 26 real games of ``tests/data`` in which roles are played, each with its source, sorted by source and id."""
    found = [
        (source, result.transcript)
        for source in SOURCES
        for result in read_path(REAL / source)
        if result.transcript is not None
    ]
    return sorted(found, key=lambda game: (game[0], game[1].game_id))


@dataclass(frozen=True)
class LabelledSet:
    """Games of one or several halves with the labels of their public messages.

    Attributes:
        games: By id.
        sources: By id of the game.
        rows: By message: ``references``, ``answers``, ``acts``, ``is_strategic``, as in ``data/labels/README.md``.
    """

    games: Mapping[str, Transcript]
    sources: Mapping[str, str]
    rows: Mapping[Key, Mapping[str, Any]]

    @classmethod
    def of(cls, *halves: Half) -> LabelledSet:
        """The games of ``halves``; labels of other games are dropped while they are read."""
        games, sources = cls.games_of(*halves)
        return cls(games, sources, _rows("messages.jsonl", sources))

    @staticmethod
    def games_of(*halves: Half) -> tuple[Mapping[str, Transcript], Mapping[str, str]]:
        """The games of ``halves`` and their sources, by id; no label is read."""
        with (LABELS / "halves.csv").open(encoding="utf-8", newline="") as file:
            sources = {row["game"]: row["source"] for row in csv.DictReader(file) if row["half"] in halves}
        games = {game.game_id: game for _, game in load_games() if game.game_id in sources}
        for path in sorted((LABELS / "games").glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                game = Transcript.from_json(line)
                if game.game_id in sources:
                    games[game.game_id] = game
        return games, sources

    def second_reading(self) -> Mapping[Key, Mapping[str, Any]]:
        """What other readers, who did not see the first ones' labels, said of some of the messages."""
        return _rows("messages_second.jsonl", self.sources)

    def as_training(self) -> list[LabelledGame]:
        """The games as the reader is trained on them."""
        labels: dict[str, dict[int, Labels]] = {game: {} for game in self.games}
        for (game, message), row in self.rows.items():
            labels[game][message] = Labels(
                bool(row["is_strategic"]),
                tuple(one["quote"] for one in row["references"]),
                frozenset((one["act"], one["target"]) for one in row["acts"]),
            )
        return [
            LabelledGame(game, self.sources[game_id], labels[game_id], self.sources[game_id].startswith("synthetic"))
            for game_id, game in sorted(self.games.items())
        ]


def _rows(name: str, games: Iterable[str]) -> dict[Key, Mapping[str, Any]]:
    wanted = set(games)
    lines = (LABELS / name).read_text(encoding="utf-8").splitlines()
    return {(row["game"], row["message"]): row for row in map(json.loads, lines) if row["game"] in wanted}
