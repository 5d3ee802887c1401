"""The callback by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""Called with the number of items done and their total, after each item. An exception that it raises stops the work;
what is stored stays."""


def no_progress(done: int, total: int) -> None:
    """Default progress callback: does nothing."""
