"""Which process owns a job, and whether it still runs."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process() -> str:
    """Names this process so that no later one is mistaken for it: host, number and time of its start."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def may_run(owner: str) -> bool:
    """False when ``owner`` is known to have ended: a process of this host that is gone, or whose number was reused."""
    host, pid, started = owner.rsplit(":", 2)
    return host != socket.gethostname() or _started(int(pid)) == started


def _started(pid: int) -> str:
    """The clock tick at which the process started; empty when there is none of that number."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    # The program's name, in brackets, may hold blanks and brackets; the start time is the 20th field after it.
    return status.rpartition(b")")[2].split()[19].decode("ascii")
