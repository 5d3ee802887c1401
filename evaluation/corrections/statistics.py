"""What the gate did so far: outcomes, and which dimension sends messages back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

from evaluation.corrections.attempts import Attempt, GateOutcome, GateResult


@dataclass(frozen=True, slots=True)
class DimensionStatistics:
    """How one dimension judged, over all attempts at all messages.

    Attributes:
        judged: Attempts that got a score.
        failed: Attempts scored below the threshold.
        unanswered: Attempts that no judge answered for; they passed.
        mean: Mean score, 0 to 9; ``None`` without a score.
        sd: Standard deviation (n - 1); ``None`` below two scores.
    """

    judged: int
    failed: int
    unanswered: int
    mean: float | None
    sd: float | None


@dataclass(frozen=True, slots=True)
class GateStatistics:
    """Counts over messages that were checked.

    Attributes:
        messages: How many messages were checked.
        outcomes: How often each outcome came, every outcome named.
        original_success_rate: The share of messages whose first text passed; ``None`` without messages.
        retries: How many texts were written anew.
        regeneration_failure_rate: The share of those that did not pass; ``None`` without any.
        similarity_failures: Attempts that resembled an earlier message too much.
        dimensions: By dimension, in the order in which they were first met.
        mean_total: Mean total of the committed attempts; ``None`` where there is none.
    """

    messages: int
    outcomes: Mapping[GateOutcome, int]
    original_success_rate: float | None
    retries: int
    regeneration_failure_rate: float | None
    similarity_failures: int
    dimensions: Mapping[str, DimensionStatistics]
    mean_total: float | None


def gate_statistics(results: Iterable[GateResult]) -> GateStatistics:
    """Sums up results; those that were not checked are left out.

    Source: persona evaluation specification, "Statistics".
    """
    checked = [result for result in results if result.outcome is not None]
    attempts = [attempt for result in checked for attempt in result.attempts]
    retries = [attempt for attempt in attempts if attempt.number > 0]
    outcomes = Counter(result.outcome for result in checked)
    originals = [result.attempts[0].is_passed for result in checked]
    totals = [result.committed.total for result in checked if result.committed and result.committed.total is not None]
    return GateStatistics(
        messages=len(checked),
        outcomes={outcome: outcomes[outcome] for outcome in GateOutcome},
        original_success_rate=fmean(originals) if originals else None,
        retries=len(retries),
        regeneration_failure_rate=fmean(not attempt.is_passed for attempt in retries) if retries else None,
        similarity_failures=sum(attempt.is_similar for attempt in attempts),
        dimensions=_dimensions(attempts),
        mean_total=fmean(totals) if totals else None,
    )


def _dimensions(attempts: Iterable[Attempt]) -> dict[str, DimensionStatistics]:
    checks = [check for attempt in attempts for check in attempt.checks]
    found = {}
    for name in dict.fromkeys(check.dimension for check in checks):
        mine = [check for check in checks if check.dimension == name]
        scores = [check.found.score for check in mine if check.found.score is not None]
        found[name] = DimensionStatistics(
            judged=len(scores),
            failed=sum(not check.is_passed for check in mine),
            unanswered=len(mine) - len(scores),
            mean=fmean(scores) if scores else None,
            sd=stdev(scores) if len(scores) > 1 else None,
        )
    return found
