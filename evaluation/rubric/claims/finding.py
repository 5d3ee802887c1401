"""Findings: the result of checking one claim against the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.rubric.claims.game_record import Record
from evaluation.rubric.claims.parsing import Claim
from evaluation.transcript import Message, Vote


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether the record shows a claim (``accurate``), contradicts it or leaves it open (``unverified``).

    ``reason`` is one sentence; ``refers_to`` the id of the vote or message on which it rests.
    """

    verdict: Literal["accurate", "inaccurate", "unverified"]
    reason: str
    refers_to: str | None = None

    def negated(self) -> Finding:
        """The finding for the opposite claim, on the same facts."""
        if self.verdict == "unverified":
            return self
        return Finding("inaccurate" if self.verdict == "accurate" else "accurate", self.reason, self.refers_to)


def accurate(reason: str, refers_to: str | None = None) -> Finding:
    """The record shows the claim."""
    return Finding("accurate", reason, refers_to)


def inaccurate(reason: str, refers_to: str | None = None) -> Finding:
    """The record contradicts the claim, or it is too vague to be anybody's."""
    return Finding("inaccurate", reason, refers_to)


def unverified(reason: str, refers_to: str | None = None) -> Finding:
    """The record cannot settle the claim."""
    return Finding("unverified", reason, refers_to)


def joined(findings: Sequence[Finding]) -> Finding:
    """One finding on several things said at once: contradicted by one, else open by one, else shown for all."""
    for verdict in ("inaccurate", "unverified"):
        for finding in findings:
            if finding.verdict == verdict:
                return finding
    reasons = " ".join(dict.fromkeys(finding.reason for finding in findings))
    return accurate(reasons, findings[0].refers_to)


@dataclass(frozen=True, slots=True)
class Case:
    """A claim on trial: who sent it when, and the round that it speaks of (``None`` for any before).

    Attributes:
        claim: The claim.
        message: The message that makes it.
        record: The record of the transcript.
        round: The round meant, if one in particular is.
    """

    claim: Claim
    message: Message
    record: Record
    round: int | None

    @property
    def scope(self) -> str:
        """The round in words, with a blank before: " in round 2"; empty for any round."""
        return "" if self.round is None else f" in round {self.round}"


def no_votes(case: Case, otherwise: str = "") -> Finding:
    """The finding when the record has no vote: open, or inaccurate when none had been taken yet."""
    record = case.record
    if not record.has_votes:
        return unverified("No votes are recorded for this transcript.")
    # The first round is 0 or 1; a transcript that begins later may lack rounds that were played.
    is_first = record.first_round is not None and record.first_round <= 1 and case.message.round == record.first_round
    if is_first and not record.votes(case.message):
        return inaccurate("No vote had been taken yet when this was said.")
    return unverified(otherwise or f"No votes are recorded{case.scope or ' before this message'}.")


def round_words(vote: Vote) -> str:
    """The round of a vote in words, with a blank before: " in round 2"; empty where it has none."""
    return "" if vote.round is None else f" in round {vote.round}"
