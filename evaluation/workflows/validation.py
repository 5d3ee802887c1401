"""Describe what a file is recognised as, and what the metrics will lack, before anything is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.errors import InputError
from evaluation.readers import ReadResult
from evaluation.readers.import_report import left_out_words
from evaluation.text.display import counted, quoted
from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Report:
    """One game of a file as it was understood.

    Attributes:
        name: The file, with the game's own name behind it where a file holds several.
        format: The format recognised; ``None`` when none was.
        error: Why it was refused; ``None`` when it can be used.
        game_id: The game's id; ``None`` when it was refused, as are all counts below.
        players: How many players there are.
        roles: How many of them have a role.
        messages: Messages by channel, most first.
        votes: How many votes stand.
        eliminations: How many players leave the game.
        warnings: What is missing, and which metric that concerns.
        kinds: How many lines or rows became a message, vote, elimination, round, role or event, or were left out.
    """

    name: str
    format: str | None
    error: InputError | None = None
    game_id: str | None = None
    players: int | None = None
    roles: int | None = None
    messages: Mapping[str, int] | None = None
    votes: int | None = None
    eliminations: int | None = None
    warnings: tuple[str, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, result: ReadResult) -> Report:
        """The report on what a reader made of a file."""
        transcript = result.transcript
        if transcript is None:
            return cls(result.name, result.format, result.error)
        return cls(
            result.name,
            result.format,
            game_id=transcript.game_id,
            players=len(transcript.players),
            roles=sum(player.role is not None for player in transcript.players),
            messages=dict(Counter(message.channel for message in transcript.messages).most_common()),
            votes=len(transcript.valid_votes),
            eliminations=len(transcript.eliminations),
            warnings=(
                *result.remarks,
                *filter(None, (left_out_words(result),)),
                *_questions(result),
                *_warnings(transcript),
                *_left_aside(result),
            ),
            kinds=result.kinds,
        )

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts of a game that can be used, each in words: "5 players (5 with a role)"."""
        messages = self.messages or {}
        channels = ", ".join(f"{count:,} {channel}" for channel, count in messages.items())
        return (
            f"{counted(self.players or 0, 'player')} ({self.roles} with a role)",
            f"{counted(sum(messages.values()), 'message')} ({channels})",
            counted(self.votes or 0, "vote"),
            counted(self.eliminations or 0, "elimination"),
        )

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-compatible data; a refusal is ``error`` with ``message``, ``place`` and ``remedy``."""
        error = self.error
        return {
            "name": self.name,
            "format": self.format,
            "is_usable": self.error is None,
            "error": error and {"message": error.message, "place": error.place, "remedy": error.remedy},
            "game_id": self.game_id,
            "players": self.players,
            "players_with_role": self.roles,
            "messages": self.messages,
            "votes": self.votes,
            "eliminations": self.eliminations,
            "warnings": list(self.warnings),
            "kinds": dict(self.kinds),
        }


def _questions(result: ReadResult) -> Iterator[str]:
    for question in result.questions:
        yield f"{question.words} To change it: {question.option}."


def _left_aside(result: ReadResult) -> Iterator[str]:
    if result.left_aside:
        number = counted(len(result.left_aside), "other file")
        yield f"{number} of its folder in no known format left aside: {quoted(result.left_aside)}."


def _warnings(transcript: Transcript) -> Iterator[str]:
    discussion = transcript.discussion
    if not discussion:
        yield "No player says anything in public, so no metric of the discussion will apply."
    elif len({message.speaker for message in discussion}) == 1:
        yield "Only one player speaks in public, so nobody is answered and voices cannot be compared."
    players = len(transcript.players)
    without_role = sum(player.role is None for player in transcript.players)
    if without_role == players:
        yield "No role was found, so role consistency will not apply."
    elif without_role:
        yield f"{without_role} of {players} players {_have(without_role)} no role."
    if not transcript.votes:
        yield "No votes were found, so memory accuracy cannot verify claims about them."
    if discussion and all(message.reply_to is None for message in discussion):
        yield "No message says which one it answers, so coherence rests on names and words alone."
    timeless = sum(message.sent_at is None for message in transcript.messages)
    if timeless == len(transcript.messages):
        yield "No message has a time."
    elif timeless:
        yield f"{counted(timeless, 'message')} {_have(timeless)} no time."
    if transcript.cost is None or not transcript.cost.is_known:
        yield "The cost is unknown, so it cannot be judged."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
