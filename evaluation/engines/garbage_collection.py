"""Pause Python's garbage collector while many objects are built that stay in use, and give memory back afterwards."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pauses the collector for the block; it runs again afterwards where it ran before.

    Scoring a transcript builds words, rows and evidence by the thousand, and none of them form cycles. The collector
    would look through all of them again and again, which takes a fifth of the time.

    It is one switch for the whole process. Only a block that found the collector on turns it off, and turns it on
    again, so blocks of several threads may overlap: the first to end lets the collector run, and none leaves it off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def give_back_memory() -> None:
    """Returns to the system what is free; call it when something large has ended.

    The C library keeps what was freed for later, hundreds of megabytes after a game of 50,000 messages. Where it has no
    ``malloc_trim`` (outside glibc) only the collector runs.
    """
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
