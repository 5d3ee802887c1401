"""Pause Python's cyclic garbage collector while many small objects are built that all stay in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
