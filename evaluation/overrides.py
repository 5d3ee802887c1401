"""Overrides: a person's decision on one ledger row, against a rule or a judge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.score import Evidence, LedgerRow, Method, RowVerdict, decided, redecided, row_id_of


@dataclass(frozen=True, slots=True)
class Override:
    """One overridden ledger row, with the author, reason and time of the override.

    Attributes:
        verdict: What the row is to be.
        undone_by: The person who undid the override; ``None`` while it stands.
        added_words: The words of the message that the row is about, where the person added a row that no rule saw;
            its id names message and span. ``None`` for a row that is there.
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
    added_words: str | None = None

    def added_row(self) -> LedgerRow:
        """The row that the person added, as it is without their verdict: considered, and left out."""
        message_id, _, span = self.row_id.removeprefix(row_id_of(self.metric, "")).rpartition(":")
        start, end = map(int, span.split("-"))
        evidence = (Evidence(start, end, self.added_words or ""),)
        reason = "The rule saw no reference here; a person marked one."
        return decided(self.row_id, "claim", None, reason, message_id=message_id, evidence=evidence)

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as this person decided it."""
        return redecided(
            row,
            self.verdict,
            method=Method.HUMAN,
            reason=f"{self.author}: {self.reason}",
            details={**row.details, "override_id": self.id, "author": self.author, "at": self.created_at.isoformat()},
        )
