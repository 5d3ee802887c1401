"""Check text that people typed, and convert times, on their way into the database and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from evaluation.errors import InputError
from evaluation.escaping import lone_surrogate


def require_text(**fields: str) -> None:
    """Raises ``InputError`` for a field that is blank or that UTF-8 cannot hold."""
    for name, text in fields.items():
        if not text.strip():
            raise InputError("It is empty.", place=name, remedy="Say it in a few words.")
    require_storable(**fields)


def require_storable(**fields: str) -> None:
    """Raises ``InputError`` for a field that UTF-8 cannot hold (lone surrogates, from broken command lines)."""
    for name, text in fields.items():
        if lone_surrogate(text) is not None:
            raise InputError("The text holds a lone surrogate.", place=name, remedy="Type it again.")


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
