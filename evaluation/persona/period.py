"""Periods of time, and samples that are the same on every run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from evaluation.errors import InputError
from evaluation.transcript import Message, Transcript

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time, both ends inside; ``None`` leaves an end open. Times without a zone are UTC."""

    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and _utc(self.since) > _utc(self.until):
            raise InputError(
                f"The period begins ({self.since.isoformat()}) after its end ({self.until.isoformat()}).",
                remedy="Exchange the two times.",
            )

    def holds(self, transcript: Transcript, message: Message) -> bool:
        """Whether the message was sent in it.

        A message without a time has that of its transcript's start. Where neither is known, only a period without ends
        holds it.
        """
        if self.since is None and self.until is None:
            return True
        time = message.sent_at or transcript.started_at
        if time is None:
            return False
        is_late_enough = self.since is None or _utc(time) >= _utc(self.since)
        return is_late_enough and (self.until is None or _utc(time) <= _utc(self.until))


ALWAYS = Period()
"""Leaves nothing out."""


def by_time(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """The transcripts by the time at which they began; those without any time come last, in the order given."""

    def start(transcript: Transcript) -> tuple[bool, datetime]:
        times = [message.sent_at for message in transcript.messages[:1] if message.sent_at]
        time = transcript.started_at or (times[0] if times else None)
        return time is None, _utc(time) if time else datetime.max.replace(tzinfo=UTC)

    return sorted(transcripts, key=start)


def sample(items: Sequence[_T], size: int, seed: int, subject: str) -> list[_T]:
    """At most ``size`` of the items in their order; the same for the same items, seed and subject.

    Args:
        items: What to choose from.
        size: How many at most.
        seed: Chooses another sample.
        subject: Whose items they are, so that one agent's sample does not depend on another's.
    """
    if len(items) <= size:
        return list(items)
    chosen = random.Random(f"{seed}:{subject}").sample(range(len(items)), size)
    return [items[position] for position in sorted(chosen)]


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
