"""Coverage: how many of the rows considered a score rests on, such as 22 of 51 references."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LOW_EVIDENCE = "low evidence"
"""The words for a score that rests on too little."""


@dataclass(frozen=True, slots=True)
class CoverageRule:
    """Limits below which a score rests on too little of what was considered.

    Attributes:
        noun: What has weight, after the counts: "references to the past settled".
        fewest: Fewer rows with weight are low evidence.
        least_share: So is a smaller share of all rows, from 0 to 1.
    """

    noun: str
    fewest: int
    least_share: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of considered rows that a score rests on, in one game or over several.

    Attributes:
        rule: When that is too little.
        settled: Rows with weight.
        considered: All rows; zero where a score stands though nothing was considered ("no references").
        right: Those of ``settled`` that count, in one game; ``None`` over several, whose mean is not a ratio of sums.
    """

    rule: CoverageRule
    settled: int
    considered: int
    right: float | None = None

    @property
    def is_low(self) -> bool:
        """Whether the score rests on too few rows, or on too small a share of those considered."""
        return self.settled < self.rule.fewest or self.settled < self.rule.least_share * self.considered

    @property
    def words(self) -> str:
        """The text beside a score: "22 of 51 references to the past settled, low evidence"."""
        if not self.considered:
            return LOW_EVIDENCE
        return f"{self.settled} of {self.considered} {self.rule.noun}" + (f", {LOW_EVIDENCE}" if self.is_low else "")

    @property
    def mark(self) -> str:
        """Text to append to a score in a cell: " (17/20)" is right of total, as in the rubric; ", low evidence"."""
        right = "" if self.right is None or not self.considered else f" ({self.right:g}/{self.settled})"
        return right + (f", {LOW_EVIDENCE}" if self.is_low else "")

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible."""
        return {"settled": self.settled, "considered": self.considered, "is_low_evidence": self.is_low}


def added_coverage(parts: Iterable[Coverage | None]) -> Coverage | None:
    """The coverage of several games of one metric together; ``None`` when no game has one."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return Coverage(known[0].rule, sum(one.settled for one in known), sum(one.considered for one in known))
