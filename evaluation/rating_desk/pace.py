"""The speed of a rater, from the times at which ratings were saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

LONGEST_SITTING = timedelta(minutes=30)
"""A longer gap between two ratings is a break, not work."""

SHORTEST_READING = timedelta(seconds=5)
"""In less nobody read a game: these were stored together, from a sheet."""


@dataclass(frozen=True, slots=True)
class DeskReading:
    """The time in which a rater read a game at the desk and rated it.

    Attributes:
        seconds: From when the game was shown, or the rating before was saved, whichever was later.
        messages: Public messages of the game.
    """

    rater: str
    transcript_id: str
    seconds: float
    messages: int


FEWEST_READINGS = 3
"""With fewer games nothing is said about a rater's speed."""


def timed_readings(readings: Sequence[DeskReading]) -> list[DeskReading]:
    """The readings that can be timed: those of games with messages, without a break of more than half an hour."""
    longest = LONGEST_SITTING.total_seconds()
    return [one for one in readings if one.messages and 0 <= one.seconds <= longest]


def seconds_per_message(readings: Sequence[DeskReading]) -> float | None:
    """The median of a rater's seconds per message read; ``None`` with fewer than three games that can be timed."""
    timed = [one.seconds / one.messages for one in timed_readings(readings)]
    return median(timed) if len(timed) >= FEWEST_READINGS else None


def pace(times: Sequence[datetime]) -> timedelta | None:
    """The median time from one rating to the next, breaks of more than half an hour and gaps of under 5 s left out.

    Args:
        times: When ratings were saved, in any order.

    Returns:
        ``None`` when no such gap is left.
    """
    gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
    worked = [gap.total_seconds() for gap in gaps if SHORTEST_READING <= gap <= LONGEST_SITTING]
    return timedelta(seconds=median(worked)) if worked else None
