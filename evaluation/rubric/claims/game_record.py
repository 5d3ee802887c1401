"""The record of a game at the time of a message: votes, eliminations and earlier statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from evaluation.rubric.claims._derived_eliminations import DerivedElimination, derive_eliminations
from evaluation.rubric.speech.act_types import ActKind, SpeechAct
from evaluation.rubric.speech.readings import Reading
from evaluation.transcript import Elimination, Message, Player, Transcript, Vote


class EventOrder(Enum):
    """Whether an event lies before a message; ``UNCLEAR`` in the same round when one of both carries no time."""

    BEFORE = "before"
    UNCLEAR = "unclear"
    AFTER = "after"


class PastVote(NamedTuple):
    """A vote that had been cast, or may have been, when a message was sent."""

    vote: Vote
    is_certain: bool


class PastElimination(NamedTuple):
    """A player who had left the game, or may have, when a message was sent."""

    elimination: Elimination
    is_certain: bool


class PastAct(NamedTuple):
    """A speech act in an earlier message."""

    message: Message
    act: SpeechAct


class Record:
    """The events of a transcript, asked from the standpoint of one of its messages.

    Args:
        transcript: Where the events come from; of several votes by a voter in a round and phase the last one stands.
        readings: Its public messages as read.
    """

    def __init__(self, transcript: Transcript, readings: Sequence[Reading]) -> None:
        self.transcript = transcript
        self.has_votes = bool(transcript.votes)
        self.has_eliminations = bool(transcript.eliminations)
        self._readings = readings
        self._eliminations: dict[str, list[Elimination]] = defaultdict(list)
        for elimination in transcript.eliminations:
            self._eliminations[elimination.player].append(elimination)
        rounds = [message.round for message in transcript.messages]
        rounds += [vote.round for vote in transcript.votes]
        rounds += [elimination.round for elimination in transcript.eliminations]
        self.first_round = min((number for number in rounds if number is not None), default=None)

    @cached_property
    def derived(self) -> Mapping[str, DerivedElimination]:
        """Player -> the vote that shows them voted out, in files that record no elimination."""
        return {one.elimination.player: one for one in derive_eliminations(self.transcript)}

    def derived_elimination(self, message: Message, player: str) -> DerivedElimination | None:
        """The derived elimination of ``player``, if it lies before ``message`` for certain."""
        found = self.derived.get(player)
        if found is None:
            return None
        is_before = _order(found.elimination.round, found.elimination.sent_at, message) is EventOrder.BEFORE
        return found if is_before else None

    def living(self, round_number: int | None) -> set[str]:
        """The players whom no elimination of a round before ``round_number`` took out."""
        gone = {
            event.player
            for event in self.transcript.eliminations
            if event.round is not None and round_number is not None and event.round < round_number
        }
        return set(self.transcript.player_names) - gone

    def votes(self, message: Message, round_number: int | None = None) -> list[PastVote]:
        """The votes cast before ``message``, in order; of one round when it is given.

        Votes of which the order is unclear are among them, marked as uncertain.
        """
        found: list[PastVote] = []
        for vote in self.transcript.valid_votes:
            if round_number is not None and vote.round != round_number:
                continue
            order = _order(vote.round, vote.sent_at, message)
            if order is not EventOrder.AFTER:
                found.append(PastVote(vote, order is EventOrder.BEFORE))
        return found

    def eliminations(self, message: Message, player: str | None = None) -> list[PastElimination]:
        """The eliminations before ``message``, of ``player`` or of anybody."""
        events: Iterable[Elimination] = (
            self.transcript.eliminations if player is None else self._eliminations.get(player, ())
        )
        ordered = ((event, _order(event.round, event.sent_at, message)) for event in events)
        return [
            PastElimination(event, order is EventOrder.BEFORE)
            for event, order in ordered
            if order is not EventOrder.AFTER
        ]

    def player(self, name: str) -> Player:
        """The player of that name."""
        return self.transcript.player(name)

    def earlier(self, message: Message, round_number: int | None = None) -> Iterator[Reading]:
        """The readings of the public messages before ``message``, latest first; of one round when it is given."""
        for reading in reversed(self._readings):
            is_earlier = reading.message.index < message.index
            if is_earlier and (round_number is None or reading.message.round == round_number):
                yield reading

    def acts(
        self,
        message: Message,
        kinds: Collection[ActKind],
        actors: Collection[str] | None,
        target: str | None,
        round_number: int | None = None,
    ) -> Iterator[PastAct]:
        """The speech acts of these kinds before ``message``, latest first.

        Args:
            message: The standpoint.
            kinds: The kinds wanted.
            actors: By whom; ``None`` for anybody.
            target: At whom; ``None`` for anybody.
            round_number: Only in this round, when given.
        """
        for reading in self.earlier(message, round_number):
            if actors is None or reading.message.speaker in actors:
                for act in reading.acts:
                    if act.kind in kinds and (target is None or act.target == target):
                        yield PastAct(reading.message, act)


def _order(round_number: int | None, sent_at: datetime | None, message: Message) -> EventOrder:
    """By round where both carry one, within a round by time where both carry one."""
    if round_number is not None and message.round is not None and round_number != message.round:
        return EventOrder.BEFORE if round_number < message.round else EventOrder.AFTER
    if sent_at is None or message.sent_at is None or (sent_at.tzinfo is None) != (message.sent_at.tzinfo is None):
        return EventOrder.UNCLEAR
    return EventOrder.BEFORE if sent_at < message.sent_at else EventOrder.AFTER
