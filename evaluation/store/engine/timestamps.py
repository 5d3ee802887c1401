"""Convert times between Python and DuckDB without the package that DuckDB needs for time zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_microseconds(value: int) -> datetime:
    """The time that ``epoch_us(column)`` gives."""
    return _EPOCH + timedelta(microseconds=value)


def microseconds(value: datetime) -> int:
    """The microseconds that ``epoch_us(column)`` gives for a time with a zone."""
    return (value - _EPOCH) // timedelta(microseconds=1)


def maybe_from_microseconds(value: int | None) -> datetime | None:
    """The same for a column that may be empty."""
    return None if value is None else from_microseconds(value)


def to_utc(value: datetime | None) -> datetime | None:
    """``value`` in UTC, one without a zone taken as UTC; ``None`` when that leaves the calendar's years 1 to 9999."""
    if value is None:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None
