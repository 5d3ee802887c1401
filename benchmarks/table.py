"""The table that the measurements of speed and scale print: what was measured beside what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
