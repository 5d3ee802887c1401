"""Direction: whom votes and accusations are aimed at, by side.

The share of the town's that hits Mafia players less the share of the Mafia's that does, in points: above 0, town looks
for Mafia and Mafia spare their own. Votes and messages are two parts, since votes are not messages; the value is their
mean, or the one that there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.rubric.speech.act_types import ACCUSATIONS
from evaluation.rubric.speech.readings import Reading
from evaluation.transcript import Alignment, Transcript

_NIGHT = "night"
Aim = tuple[str, str]
"""Who aims at whom."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Both parts in points, -100 to 100; ``None`` where one side aimed at nobody."""

    votes: float | None
    messages: float | None

    @property
    def value(self) -> float | None:
        """The companion: the mean of the parts there are."""
        parts = [part for part in (self.votes, self.messages) if part is not None]
        return sum(parts) / len(parts) if parts else None


@dataclass(frozen=True, slots=True)
class Aims:
    """Public votes and accusations, each as who aims at whom."""

    votes: tuple[Aim, ...]
    messages: tuple[Aim, ...]

    @classmethod
    def of(cls, transcript: Transcript, readings: Sequence[Reading]) -> Aims:
        """The aims of a transcript; votes cast at night are not public, votes for oneself aim at nobody."""
        votes = [
            (vote.voter, vote.target)
            for vote in transcript.valid_votes
            if vote.target and vote.target != vote.voter and _NIGHT not in (vote.phase or "").casefold()
        ]
        messages = [
            (reading.message.speaker, act.target)
            for reading in readings
            for act in reading.acts
            if act.kind in ACCUSATIONS and act.target and act.target != reading.message.speaker
        ]
        return cls(tuple(votes), tuple(messages))

    def direction(self, sides: Mapping[str, Alignment | None]) -> Direction:
        """Their direction, with each player's side."""
        return Direction(_part(self.votes, sides), _part(self.messages, sides))


def _part(aims: Sequence[Aim], sides: Mapping[str, Alignment | None]) -> float | None:
    hits = {"town": 0, "mafia": 0}
    totals = {"town": 0, "mafia": 0}
    for source, target in aims:
        side, aimed = sides[source], sides[target]
        if side is not None and aimed is not None:
            totals[side] += 1
            hits[side] += aimed == "mafia"
    if not (totals["town"] and totals["mafia"]):
        return None
    return 100.0 * (hits["town"] / totals["town"] - hits["mafia"] / totals["mafia"])
