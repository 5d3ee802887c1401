"""Check claims against the record at the time of their message (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from evaluation.rubric.claims import _event_checks, _role_checks, _vote_checks
from evaluation.rubric.claims.finding import Case, Finding, inaccurate, unverified
from evaluation.rubric.claims.game_record import Record
from evaluation.rubric.claims.parsing import Act, Claim
from evaluation.transcript import Message


def findings_on(claims: Iterable[Claim], message: Message, record: Record) -> Iterator[tuple[Claim, Finding]]:
    """The claims made in ``message`` that are references, each stretch of text once, with what the record says."""
    seen: set[tuple[int, int]] = set()
    for claim in claims:
        finding = check(claim, message, record)
        if finding is not None and (claim.start, claim.end) not in seen:
            seen.add((claim.start, claim.end))
            yield claim, finding


def check(claim: Claim, message: Message, record: Record) -> Finding | None:
    """The finding on ``claim``, made in ``message``; ``None`` when it turns out not to be a reference.

    A round that had not begun, or that was none ("last round" in the first), is inaccurate whatever is said of it.
    """
    round_number = claim.when.round_for(message.round)
    impossible = _impossible_round(claim, round_number, message, record)
    if impossible is not None:
        return impossible
    if claim.when.kind in ("last", "this", "ago") and round_number is None:
        return unverified("Which round is meant cannot be told: the message carries no round.")
    finding = _CHECKS[claim.act](Case(claim, message, record, round_number))
    if finding is not None and claim.unproven and finding.verdict != "unverified":
        return unverified(f'"{claim.unproven}" says more than the record can settle. {finding.reason}')
    return finding


def _impossible_round(claim: Claim, round_number: int | None, message: Message, record: Record) -> Finding | None:
    if round_number is None or message.round is None:
        return None
    if round_number > message.round:
        return inaccurate(f"Round {round_number} had not happened yet when this was said in round {message.round}.")
    first = record.first_round
    # The first round is 0 or 1; a transcript that begins later may lack rounds that were played.
    if first is not None and first <= 1 and round_number < first:
        before = "no round before this one" if claim.when.kind != "round" else f"no round {round_number}"
        return inaccurate(f"There was {before}.")
    return None


def _check_unclear(case: Case) -> Finding:
    actor = case.claim.actor
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: who is meant cannot be identified.')
    return unverified(f"It refers to the past{case.scope}, but to nothing that the record can settle.")


_CHECKS: Mapping[Act, Callable[[Case], Finding | None]] = MappingProxyType(
    {
        Act.VOTE: _vote_checks.check_vote,
        Act.VOTED: _vote_checks.check_voted,
        Act.ABSTAINED: _vote_checks.check_abstained,
        Act.VOTE_TOGETHER: _vote_checks.check_voted_together,
        Act.VOTES_RECEIVED: _vote_checks.check_votes_received,
        Act.ELIMINATED: _event_checks.check_eliminated,
        Act.ROLE_WAS: _event_checks.check_role_was,
        Act.ACCUSE: _event_checks.check_accused,
        Act.DEFEND: _event_checks.check_defended,
        Act.CLAIM_ROLE: _role_checks.check_claimed_role,
        Act.CLAIM_RESULT: _role_checks.check_claimed_result,
        Act.ASK: _event_checks.check_asked,
        Act.SPOKE: _event_checks.check_spoke,
        Act.SAID: _event_checks.check_said,
        Act.UNCLEAR: _check_unclear,
    }
)
