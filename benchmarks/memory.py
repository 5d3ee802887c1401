"""Resident memory of this process, now and at most."""

from __future__ import annotations

from pathlib import Path

_PROCESS_STATUS = Path("/proc/self/status")


def peak_mb() -> float:
    """The largest resident memory of this process so far, in 10^6 bytes.

    Raises:
        SystemExit: The system does not tell.
    """
    # Not getrusage: its maximum survives the exec that started this process, and so may be that of the parent.
    return _status_mb("VmHWM:")


def resident_mb() -> float:
    """The resident memory of this process now, in 10^6 bytes.

    Raises:
        SystemExit: The system does not tell.
    """
    return _status_mb("VmRSS:")


def _status_mb(name: str) -> float:
    for line in _PROCESS_STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"{_PROCESS_STATUS} does not tell {name}")
