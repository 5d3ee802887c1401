"""The table that the measurements of speed print, what was measured beside what is wanted; and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_HEADERS = ("what", "measured", "wanted", "met")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``met`` is empty where nothing particular is wanted."""

    what: str
    measured: str
    wanted: str = ""
    met: str = ""

    @classmethod
    def limited(cls, what: str, measured: float, limit: float, unit: str, digits: int = 2) -> Row:
        """A line for a figure that must not be above ``limit``."""
        met = "yes" if measured <= limit else "NO"
        return cls(what, f"{measured:.{digits}f}{unit}", f"<= {limit:g}{unit}", met)


def print_table(rows: Sequence[Row]) -> None:
    """Prints the rows under their headers, in columns as wide as they need to be."""
    cells = [_HEADERS, *((row.what, row.measured, row.wanted, row.met) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADERS))]
    rule = ["-" * width for width in widths]
    for line in (cells[0], rule, *cells[1:]):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def status_mb(name: str) -> float:
    """Resident memory of this process now (``VmRSS``) or at most so far (``VmHWM``), in 10^6 bytes (Linux only)."""
    # Not getrusage: its maximum survives the exec that started this process, and so may be that of the parent.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))
