"""Dates and clock times as people and messengers write them before a message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, timezone

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,6})?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:z|utc|[+-]\d{2}:?\d{2}))?"
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\.?"
    rf"|\d{{1,2}}\.?[\s-]{_MONTH},?[\s-]\d{{2,4}}|{_MONTH}\s\d{{1,2}},?\s\d{{4}}|today|yesterday)"
)
TIME = rf"(?:{_DATE}(?:(?:,?\s|,|\s?t|,?\s?at\s)\s?{_CLOCK})?|{_CLOCK}(?:,\s?{_DATE})?)"
"""A date, a clock time, or both; matched without regard to case."""

_NUMBERS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})\.?[\s-](?P<month>{_MONTH})|(?P<first>{_MONTH})\s(?P<second>\d{{1,2}})),?[\s-](?P<year>\d{{2,4}})"
)
_PARTS = re.compile(
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6}))?)?"
    r"\s?(?P<half>[ap])?(?:\.?m\.?)?\s?(?P<zone>z|utc|[+-]\d{2}:?\d{2})?$"
)
_CLOCK_FIRST = re.compile(rf"(?P<clock>{_CLOCK}),\s?(?P<date>{_DATE})")
# A clock without a date stands on a day that means nothing.
_NO_DATE = date(1970, 1, 1)
_HALF_DAY = timedelta(hours=12)


def order_of_dates(written: Iterable[str]) -> str | None:
    """``day-first`` or ``month-first``, as the numbers show; ``None`` where all can be read both ways.

    Dates with dots have the day first. Where no date is written in numbers, the answer does not matter.
    """
    is_open = False
    for one in written:
        match = _NUMBERS.search(one)
        if match is None or len(match[1]) == 4:
            continue
        first, second = int(match[1]), int(match[3])
        if match[2] == "." or first > 12:
            return "day-first"
        if second > 12:
            return "month-first"
        is_open = is_open or first != second
    return None if is_open else "day-first"


class Clock:
    """Turns written times into moments, one after the other; a clock without a date may pass midnight."""

    def __init__(self, dates: str) -> None:
        self._is_day_first = dates == "day-first"
        self._last: datetime | None = None
        self._days = 0

    def moment(self, written: str) -> datetime | None:
        """The moment in UTC (without an offset, as if it were UTC); ``None`` for a time that does not exist."""
        lowered = written.casefold().strip().rstrip(".")
        if match := _CLOCK_FIRST.fullmatch(lowered):
            lowered = f"{match['date']} {match['clock']}"
        try:
            return self._moment(lowered)
        except (ValueError, OverflowError):
            return None

    def _moment(self, written: str) -> datetime | None:
        day, rest = self._day(written)
        match = _PARTS.search(rest)
        if match is None:
            return None if day is None else datetime.combine(day, time(), UTC)
        hour = int(match["hour"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] == "p" else 0)
        fraction = int((match["fraction"] or "0").ljust(6, "0"))
        clock = time(hour, int(match["minute"]), int(match["second"] or 0), fraction)
        zone = match["zone"] or ""
        offset = _offset(zone) if zone[:1] in ("+", "-") else UTC
        if day is not None:
            return datetime.combine(day, clock, offset).astimezone(UTC)
        moment = datetime.combine(_NO_DATE, clock, UTC) + timedelta(days=self._days)
        if self._last is not None and self._last - moment > _HALF_DAY:
            self._days += 1
            moment += timedelta(days=1)
        self._last = moment
        return moment

    def _day(self, written: str) -> tuple[date | None, str]:
        if written.startswith("yesterday"):
            return _NO_DATE, written.removeprefix("yesterday")
        if written.startswith("today"):
            return _NO_DATE + timedelta(days=1), written.removeprefix("today")
        if match := _NUMBERS.match(written):
            first, second, third = int(match[1]), int(match[3]), int(match[4])
            if len(match[1]) == 4:
                found = date(first, second, third)
            else:
                year = third + 2000 if third < 100 else third
                # A dot never stands between month and day.
                day_first = self._is_day_first or match[2] == "."
                found = date(year, second, first) if day_first else date(year, first, second)
            return found, written[match.end() :]
        if match := _NAMED.match(written):
            name = match["month"] or match["first"]
            number = int(match["day"] or match["second"])
            year = int(match["year"])
            return date(year + 2000 if year < 100 else year, _MONTHS.index(name[:3]) + 1, number), written[
                match.end() :
            ]
        return None, written


def _offset(zone: str) -> timezone:
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
