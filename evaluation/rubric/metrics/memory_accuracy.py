"""Metric 1, memory accuracy: how many references to the past are true."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rubric._claim_checks import Finding, findings_of
from evaluation.rubric._claims import Act, Claim
from evaluation.rubric.definitions import MEMORY_ACCURACY
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.speech import Reading
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, row_id_of, summarise
from evaluation.transcript import Transcript

_COUNTS = {"accurate": True, "inaccurate": False, "unverified": None}
_KINDS: Mapping[Act, str] = {
    Act.VOTE: "vote",
    Act.VOTED: "vote",
    Act.ABSTAINED: "vote",
    Act.VOTE_TOGETHER: "vote",
    Act.VOTES_RECEIVED: "vote",
    Act.ELIMINATED: "elimination",
    Act.ROLE_WAS: "elimination",
    Act.ACCUSE: "accusation",
    Act.DEFEND: "accusation",
    Act.CLAIM_ROLE: "role claim",
    Act.CLAIM_RESULT: "role claim",
    Act.ASK: "earlier statement",
    Act.SPOKE: "earlier statement",
    Act.SAID: "earlier statement",
    Act.UNCLEAR: "earlier statement",
}


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of references to past events that the record shows (rubric 1.0, metric 1).

    100 x accurate / (accurate + inaccurate). Each reference is a clause parsed to a claim (actor, act, target, round)
    and checked against votes, eliminations, revealed roles and earlier messages, as they stood when it was sent. What
    the record cannot settle is ``unverified``: excluded until a judge or a person decides, and counted beside the
    score. A message that says the same twice makes one reference.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 80 when left out.

    Returns:
        A percent result with one row per reference; a row's ``details`` hold actor, act, target, round, finding and
        kind. The result's ``details`` hold the coverage and what
        :func:`~evaluation.rubric.definitions.by_kind_of_reference` returns. Full marks without any reference,
        ``not_applicable`` when all are unverified, in another language than English or without public messages.
    """
    discussion = Discussion.of(transcript)
    if reason := discussion.unsupported_language:
        return summarise(MEMORY_ACCURACY, (), threshold=threshold, not_applicable=reason)
    if not discussion.messages:
        return summarise(MEMORY_ACCURACY, (), threshold=threshold, not_applicable="no public messages")
    rows = [_row(reading, *found) for reading, findings in findings_of(discussion) for found in findings]
    return summarise(MEMORY_ACCURACY, rows, threshold=threshold)


def _row(reading: Reading, claim: Claim, finding: Finding) -> LedgerRow:
    message = reading.message
    return decided(
        row_id_of(MEMORY_ACCURACY.name, f"{message.id}:{claim.start}-{claim.end}"),
        "claim",
        _COUNTS[finding.verdict],
        finding.reason,
        message_id=message.id,
        player=message.speaker,
        evidence=(Evidence(claim.start, claim.end, message.text[claim.start : claim.end]),),
        refers_to=finding.refers_to,
        details={
            "actor": claim.actor.label,
            "act": str(claim.act) if not claim.negated else f"not {claim.act}",
            "target": None if claim.target is None else claim.target.label,
            "round": claim.when.round_for(message.round),
            "finding": finding.verdict,
            "kind": _KINDS[claim.act],
        },
    )
