"""Overrides: a person's decision on one ledger row, against a rule or a judge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.score import LedgerRow, Method, RowVerdict, redecided


@dataclass(frozen=True, slots=True)
class Override:
    """One overridden ledger row, with the author, reason and time of the override.

    Attributes:
        verdict: What the row is to be.
        undone_by: The person who undid the override; ``None`` while it stands.
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
