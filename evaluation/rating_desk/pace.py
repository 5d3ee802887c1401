"""The speed of a rater, from the times at which ratings were saved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

LONGEST_SITTING = timedelta(minutes=30)
"""A longer gap between two ratings is a break, not work."""

SHORTEST_READING = timedelta(seconds=5)
"""In less nobody read a game: these were stored together, from a sheet."""


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
