"""The callback by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""Called with the number of items done and their total, after each item. An exception that it raises stops the work;
what is stored stays."""


def no_progress(done: int, total: int) -> None:
    """Default progress callback: does nothing."""


def pace_words(done: int, total: int, seconds: float) -> str:
    """The rate of a run and the time that it still needs: "3.1 a second, 2 min 10 s left".

    Args:
        done: Items that are done.
        total: All items; 0 when that is not known, and no time is named then.
        seconds: How long that took.
    """
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    pace = f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute"
    return f"{pace}, {_duration((total - done) / rate)} left" if total > done else pace


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
