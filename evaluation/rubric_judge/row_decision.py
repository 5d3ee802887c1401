"""A judge's decision on one ledger row, beside the rule's verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.score import LedgerRow, Method, RowVerdict, redecided


@dataclass(frozen=True, slots=True)
class RowDecision:
    """A judge's decision on one ledger row.

    Attributes:
        verdict: What the row is to be.
        label: The judge's word for it ("responds").
        reason: The judge's reason; untrusted text.
        confidence: 0 to 1, the judge's own.
        citations: Ids of the cited messages, in the order cited.
        judge: Which kind of judge: "live", "recorded", "scripted".
        model: The model's name.
        key: The address of the judgement, under which prompt and raw answer are kept.
        decided_at: When it was stored; ``None`` before that.
    """

    transcript_id: str
    metric: str
    row_id: str
    verdict: RowVerdict
    label: str
    reason: str
    confidence: float | None
    citations: tuple[str, ...]
    judge: str
    model: str
    key: str
    decided_at: datetime | None = None

    @property
    def method(self) -> str:
        """The display name of who decided: "judge:gpt-4o-mini"."""
        return f"judge:{self.model}"

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as the judge decided it; it rests on the first cited message that is not its own."""
        others = [citation for citation in self.citations if citation != row.message_id]
        judged = {
            "method": self.method,
            "judge": self.judge,
            "label": self.label,
            "confidence": self.confidence,
            "citations": list(self.citations),
            "key": self.key,
        }
        return redecided(
            row,
            self.verdict,
            method=Method.JUDGE,
            reason=self.reason,
            refers_to=others[0] if others else None,
            details={**row.details, "judged": judged},
        )
