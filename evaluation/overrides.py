"""Overrides: a person's decision on one ledger row, against a rule or a judge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.score import LedgerRow, Method, RowVerdict, redecided


@dataclass(frozen=True, slots=True)
class Override:
    """One overruled ledger row, with who overruled it, why and when.

    Attributes:
        verdict: What the row is to be.
        undone_by: Who took the override back; ``None`` while it has not been.
    """

    id: int
    transcript_id: str
    metric: str
    row_id: str
    verdict: RowVerdict
    author: str
    reason: str
    created_at: datetime
    undone_by: str | None = None
    undone_at: datetime | None = None

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as this person decided it."""
        return redecided(
            row,
            self.verdict,
            method=Method.HUMAN,
            reason=f"{self.author}: {self.reason}",
            details={**row.details, "override_id": self.id, "author": self.author, "at": self.created_at.isoformat()},
        )
