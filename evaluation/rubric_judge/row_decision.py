"""A judge's decision on one ledger row, beside the rule's verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.rubric.definitions import MEMORY_ACCURACY
from evaluation.score import DISMISSED, LedgerRow, Method, RowVerdict, redecided

NO_REFERENCE = "no reference"
"""The label of a row that the judge does not take for a reference to the past."""


@dataclass(frozen=True, slots=True)
class RowDecision:
    """A judge's decision on one ledger row.

    Attributes:
        verdict: What the row is to be.
        label: The judge's word for it ("accurate").
        reason: The judge's reason; untrusted text.
        confidence: 0 to 1, the judge's own; ``None`` where it was not asked.
        citations: Ids of the cited messages, in the order cited.
        judge: Which kind of judge: "live", "recorded", "scripted".
        model: The model's name.
        key: The address of the judgement, under which prompt and raw answer are kept.
        decided_at: When it was stored; ``None`` before that.
        added: The row, considered and left out, where no ledger had one; ``None`` for a row that was there.
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
    added: LedgerRow | None = None

    @property
    def method(self) -> str:
        """The display name of who decided: "judge:gpt-4o-mini"."""
        return f"judge:{self.model}"

    def applied_to(self, row: LedgerRow) -> LedgerRow:
        """``row`` as the judge decided it; it rests on the first cited message that is not its own.

        What the record proves about a reference to the past stays; where the judge says otherwise, the row tells.
        """
        others = [citation for citation in self.citations if citation != row.message_id]
        details = {**row.details, "judged": self._as_dict()}
        if is_proven(row):
            if self.verdict is row.verdict:
                return redecided(row, row.verdict, details=details)
            words = f"{self.model} says {self.label}: {self.reason}"
            return redecided(
                row, row.verdict, reason=f"{row.reason} The record decides, though {words}", details=details
            )
        if self.label == NO_REFERENCE:
            details[DISMISSED] = True
        return redecided(
            row,
            self.verdict,
            method=Method.JUDGE,
            reason=self.reason,
            refers_to=others[0] if others else None,
            details=details,
        )

    def _as_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "judge": self.judge,
            "label": self.label,
            "confidence": self.confidence,
            "citations": list(self.citations),
            "key": self.key,
        }


_EVENTS = frozenset({"vote", "elimination"})


def is_proven(row: LedgerRow) -> bool:
    """Whether the record has the last word on a reference to the past, against any judge.

    It has on what it shows, and on votes and eliminations that it shows to be otherwise. That no message shows
    something proves nothing: keywords overlook what a judge can read.
    """
    is_settled = row.metric == MEMORY_ACCURACY.name and row.method is Method.RULE and row.denominator > 0
    return is_settled and (row.verdict is RowVerdict.COUNTS or row.details.get("kind") in _EVENTS)
