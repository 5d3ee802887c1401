"""Invents games in the native shape: any number, all different, the same ones for the same seed.

They cost a metric what a real game costs (players named, votes remembered rightly and wrongly, replies, words that no
other game has), but they are nonsense: nothing about quality can be learned from their scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

ROUNDS = 3
_MATERIAL: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
_WORDS: dict[str, list[str]] = {kind: text.split() for kind, text in _MATERIAL.items() if isinstance(text, str)}
_FRAMES: dict[str, list[str]] = {kind: frames for kind, frames in _MATERIAL.items() if isinstance(frames, list)}
_FIRST_START = datetime(2025, 1, 1, tzinfo=UTC)
_SHARE_OF_TRUE_MEMORIES = 0.8
_SHARE_OF_REPLIES = 0.4
_SHARE_OF_SELF_NAMED = 0.05


def generate(count: int, seed: int = 0, *, rounds: int = ROUNDS, pace: int = 1) -> Iterator[dict[str, Any]]:
    """``count`` native documents of 8 to 10 players.

    Args:
        count: How many.
        seed: Another one gives other games.
        rounds: Up to 6; each has about 20 messages and ends with a vote.
        pace: How many times as many messages a round has.
    """
    return (_Game(number, Random(f"{seed}:{number}"), rounds, pace).document() for number in range(count))


def write(folder: Path, count: int, seed: int = 0) -> list[Path]:
    """Writes ``count`` documents as ``discussion-<epoch ms>.json`` into ``folder`` and returns their paths."""
    paths = []
    for document in generate(count, seed):
        exported = datetime.fromisoformat(document["timestamp"])
        path = folder / f"discussion-{round(exported.timestamp() * 1000)}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        paths.append(path)
    return paths


class _Game:
    """One game while it is being invented."""

    def __init__(self, number: int, rng: Random, rounds: int, pace: int) -> None:
        self.number = number
        self.rng = rng
        self.rounds = rounds
        self.pace = pace
        self.names = [f"Agent-{name}" for name in rng.sample(_WORDS["names"], rng.randint(8, 10))]
        self.mafia = set(rng.sample(self.names, rng.randint(2, 3)))
        self.alive = list(self.names)
        # Words of its own, so that caches of tokens and stems get no more hits than between real games.
        self.coined = ["".join(rng.choices(_WORDS["syllables"], k=rng.randint(2, 4))) for _ in range(25)]
        self.clock = _FIRST_START + timedelta(hours=number)
        self.messages: list[dict[str, Any]] = []
        self.votes: list[dict[str, Any]] = []

    def document(self) -> dict[str, Any]:
        started = self.clock
        for round_number in range(1, self.rounds + 1):
            self._discuss(round_number)
            self._vote(round_number)
        return {
            "gameId": f"generated-{self.number}",
            "timestamp": self._now(),
            "metadata": self._metadata(started),
            "players": [self._player(position, name) for position, name in enumerate(self.names, start=1)],
            "messages": self.messages,
            "votes": self.votes,
        }

    def _discuss(self, round_number: int) -> None:
        for _ in range(self.pace * self.rng.randint(16, 24)):
            speaker = self.rng.choice(self.alive)
            earlier = [message["playerName"] for message in self.messages[-3:] if message["playerName"] != speaker]
            answered = self.rng.choice(earlier) if earlier and self.rng.random() < _SHARE_OF_REPLIES else None
            self.messages.append(
                {
                    "turn": len(self.messages) + 1,
                    "roundNumber": round_number,
                    "playerName": speaker,
                    "message": self._text(speaker, round_number),
                    "timestamp": self._now(self.rng.randint(4, 25)),
                    "inReplyToId": f"{self.number}-{len(self.messages)}" if answered else None,
                    "inReplyToPlayer": answered,
                }
            )

    def _text(self, speaker: str, round_number: int) -> str:
        rng = self.rng
        kinds = ["openers"] if rng.random() < 0.7 else []
        kinds.append(rng.choice(("accusations", "accusations", "defences", "openers")))
        if round_number > 1 and rng.random() < 0.35:
            kinds.append("memories")
        if rng.random() < 0.5:
            kinds.append("closers")
        text = " ".join(rng.choice(_FRAMES[kind]) for kind in kinds).format_map(self._slots(speaker))
        return f"{speaker}: {text}" if rng.random() < _SHARE_OF_SELF_NAMED else text

    def _slots(self, speaker: str) -> dict[str, object]:
        rng = self.rng
        x, y = rng.sample([name for name in self.names if name != speaker], 2)
        votes = [vote for vote in self.votes if vote["voterName"] != speaker]
        vote = rng.choice(votes) if votes else None
        is_true = vote is not None and rng.random() < _SHARE_OF_TRUE_MEMORIES
        noun, noun2 = rng.choices(_WORDS["nouns"], k=2)
        adjective, adjective2 = rng.choices(_WORDS["adjectives"], k=2)
        verb, verb2 = rng.choices(_WORDS["verbs"], k=2)
        return {
            "x": vote["voterName"] if is_true and vote else x,
            "y": y,
            "v": vote["targetName"] if is_true and vote else y,
            "r": vote["roundNumber"] if vote else 1,
            "noun": noun,
            "noun2": noun2,
            "adjective": adjective,
            "adjective2": adjective2,
            "verb": verb,
            "verb2": verb2,
            "coined": rng.choice(self.coined),
        }

    def _vote(self, round_number: int) -> None:
        tally: dict[str, int] = {}
        for voter in self.alive:
            target = self.rng.choice([name for name in self.alive if name != voter])
            tally[target] = tally.get(target, 0) + 1
            self.votes.append(
                {
                    "roundNumber": round_number,
                    "voterName": voter,
                    "targetName": target,
                    "justification": self.rng.choice(_FRAMES["accusations"]).format_map(self._slots(voter)),
                    "timestamp": self._now(self.rng.randint(1, 6)),
                }
            )
        self.alive.remove(max(tally, key=lambda name: tally[name]))

    def _now(self, later: int = 0) -> str:
        self.clock += timedelta(seconds=later)
        return self.clock.isoformat()

    def _player(self, position: int, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "role": "MAFIA" if name in self.mafia else "VILLAGER",
            "personality": self.rng.choice(_WORDS["personalities"]),
            "isAlive": name in self.alive,
            "position": position,
        }

    def _metadata(self, started: datetime) -> dict[str, Any]:
        tokens = self.rng.randint(900_000, 1_500_000)
        hit_rate = round(self.rng.uniform(0.3, 0.9), 2)
        return {
            "durationSeconds": round((self.clock - started).total_seconds()),
            "cost": {
                "totalCost": round(self.rng.uniform(1.2, 3.2), 2),
                "totalInputTokens": tokens,
                "totalCachedTokens": round(tokens * hit_rate),
                "totalOutputTokens": self.rng.randint(25_000, 45_000),
                "cacheHitRate": hit_rate,
            },
        }
