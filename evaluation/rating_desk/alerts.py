"""Alerts for leads: raters who are faster than anybody reads, or who give one game after the other the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from evaluation.rating_desk.pace import DeskReading, seconds_per_message, timed_readings
from evaluation.ratings import Rating
from evaluation.text.display import counted


@dataclass(frozen=True, slots=True)
class AlertLimits:
    """The limits from which a lead is told; 0 turns an alert off.

    Attributes:
        seconds_per_message: A rater whose median is below it is told about.
        same_answers: A rater who gave so many games in a row the same score and answers is told about.
    """

    seconds_per_message: float = 1.0
    same_answers: int = 5


def rating_alerts(ratings: Sequence[Rating], readings: Sequence[DeskReading], limits: AlertLimits) -> list[str]:
    """Alerts about the work of one rater, a sentence each; none is proof of anything.

    Args:
        ratings: Of one rater, in the order in which they were given.
        readings: Of the same rater.
        limits: From when on a lead is told.
    """
    alerts = []
    speed = seconds_per_message(readings)
    if speed is not None and speed < limits.seconds_per_message:
        alerts.append(
            f"Fast: {speed:.1f} seconds per message read (median of {counted(len(timed_readings(readings)), 'game')}); "
            f"the limit is {limits.seconds_per_message:g}."
        )
    run = same_answers_in_a_row(ratings)
    if limits.same_answers and run >= limits.same_answers:
        alerts.append(
            f"Always the same: {ratings[-1].score} with the same answers for the last {run} games; "
            f"the limit is {limits.same_answers}."
        )
    return alerts


def same_answers_in_a_row(ratings: Sequence[Rating]) -> int:
    """Number of the latest ratings with the score and answers of the last one, itself included."""
    if not ratings:
        return 0
    last = ratings[-1]
    return sum(
        1 for _ in takewhile(lambda one: (one.score, one.answers) == (last.score, last.answers), reversed(ratings))
    )
