"""Saving goes before drawing: when many people press save at the same moment, all are saved before games are drawn.

All pages of a server share one interpreter. Twenty pages that are drawn at once hold up the twenty-first form for as
long as all of them take, though saving it takes a tenth of that.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WAIT_SECONDS = 0.5
"""A page that waits longer is drawn in any case: nobody waits for good while others go on saving."""


class Precedence:
    """Counts what is urgent; the rest waits for it. Safe for threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._urgent = 0

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Give precedence to the work inside; the work itself never waits."""
        with self._changed:
            self._urgent += 1
        try:
            yield
        finally:
            with self._changed:
                self._urgent -= 1
                self._changed.notify_all()

    def give_way(self, longest_seconds: float = LONGEST_WAIT_SECONDS) -> bool:
        """Waits until nothing urgent is being done; false when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self._urgent == 0, timeout=longest_seconds)


SAVING = Precedence()
"""The one of this server: forms of the rating desk."""
