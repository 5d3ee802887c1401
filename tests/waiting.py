"""Wait for a condition instead of sleeping."""

import threading
import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Returns once it holds; fails when it does not within the time."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not holds():
        assert time.monotonic() < end, f"it did not happen within {seconds} s"
        pause.wait(0.005)
