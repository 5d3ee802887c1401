"""Record the process that owns a job, and check whether it still runs."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

# A container that is started again has another name, and nobody can ask the old one any more.
SILENCE_OF_OTHER_HOSTS = timedelta(minutes=15)


def this_process() -> str:
    """Names this process so that no later one is mistaken for it: host, number and time of its start."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def may_run(owner: str, heartbeat: datetime) -> bool:
    """False when ``owner`` has ended: a process of this host that is gone, or whose number was reused.

    One of another host has ended when it has not reported for a quarter of an hour.
    """
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return datetime.now(UTC) - heartbeat < SILENCE_OF_OTHER_HOSTS
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    """The clock tick at which the process started; empty when there is none of that number."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    # The program's name, in brackets, may hold blanks and brackets; the start time is the 20th field after it.
    return status.rpartition(b")")[2].split()[19].decode("ascii")
