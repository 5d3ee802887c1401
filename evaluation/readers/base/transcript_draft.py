"""A transcript under construction, for readers that go through a game line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers.base.alignment import alignment_of
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.roster import Roster
from evaluation.transcript import Channel, Transcript, build_transcript

VOTE_CHANNEL = "vote"


class TranscriptDraft:
    """Collects messages, votes and eliminations in their order; messages get the ids ``m1``, ``m2``, ...

    Attributes:
        round: Given to what is added next, until it is changed.
        phase: The same for the phase.
    """

    def __init__(self, roster: Roster, limits: Limits) -> None:
        limits.check_players(len(roster.names))
        self.roster = roster
        self.round: int | None = None
        self.phase: str | None = None
        self.messages: list[dict[str, Any]] = []
        self.votes: list[dict[str, Any]] = []
        self.eliminations: list[dict[str, Any]] = []
        self._limits = limits
        self._continued: dict[int, list[str]] = {}

    def say(
        self,
        speaker: str,
        text: str,
        channel: Channel,
        *,
        channel_name: str | None = None,
        recipients: Sequence[str] = (),
        sent_at: datetime | None = None,
        reply_to: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Adds a message and returns its index, by which ``continue_message`` and ``reply_to`` know it."""
        index = len(self.messages)
        self._limits.check_messages(index + 1)
        message = {
            "id": f"m{index + 1}",
            "index": index,
            "round": self.round,
            "phase": self.phase,
            "channel": channel,
            "channel_name": channel_name,
            "speaker": speaker,
            "recipients": tuple(recipients),
            "text": text,
            "sent_at": sent_at,
            "reply_to": None if reply_to is None else f"m{reply_to + 1}",
            "metadata": dict(metadata or {}),
        }
        self.messages.append(message)
        return index

    def continue_message(self, index: int, line: str) -> None:
        """Adds a line to the text of a message."""
        self._continued.setdefault(index, [self.messages[index]["text"]]).append(line)

    def vote(
        self, voter: str, target: str | None, *, justification: str | None = None, sent_at: datetime | None = None
    ) -> None:
        """Adds a vote; both names are players, checked by the caller."""
        self._limits.check_votes(len(self.votes) + 1)
        about = {"round": self.round, "phase": self.phase, "sent_at": sent_at}
        self.votes.append({"voter": voter, "target": target, "justification": justification} | about)

    def eliminate(self, player: str, *, role: str | None = None, sent_at: datetime | None = None) -> None:
        """Adds an elimination, with the role if the others learnt it."""
        about = {"round": self.round, "phase": self.phase, "sent_at": sent_at}
        self.eliminations.append({"player": player, "role": role} | about)

    def build(
        self,
        *,
        game_id: str,
        source_format: str,
        players: Sequence[Mapping[str, Any]],
        winner: str | None,
        metadata: Mapping[str, Any],
        started_at: datetime | None = None,
        cost: Mapping[str, Any] | None = None,
    ) -> Transcript:
        """The transcript; ``cost`` with the fields of ``Cost``.

        Raises:
            BrokenTranscriptError: There is no message, or a value that the model refuses.
        """
        if not self.messages:
            raise BrokenTranscriptError("The game has no message.", remedy="Export the game again.")
        for index, lines in self._continued.items():
            self.messages[index]["text"] = "\n".join(lines).rstrip("\n")
        fields = {
            "game_id": game_id,
            "source_format": source_format,
            "started_at": started_at,
            "players": list(players),
            "messages": self.messages,
            "votes": self.votes,
            "eliminations": self.eliminations,
            "winner": winning_side(winner),
            "cost": cost,
            "metadata": {key: value for key, value in metadata.items() if value not in (None, "", [], {})},
        }
        return build_transcript(Transcript, fields)


def winning_side(winner: str | None) -> str | None:
    """``mafia`` or ``town`` where the words name one of them ("The werewolves win."), else the words themselves."""
    return alignment_of(winner) or winner or None


def broken_line(number: int, message: str, remedy: str, *, file: str = "") -> BrokenTranscriptError:
    """The error for a line of a text format, counted from 1."""
    place = f"{file}, line {number}" if file else f"line {number}"
    return BrokenTranscriptError(message, place=place, remedy=remedy)
