"""Statistics of the gate: outcomes, and how often each dimension sends messages back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from evaluation.corrections.attempts import Attempt, DimensionCheck, GateOutcome, GateResult
from evaluation.statistics.intervals import Interval, proportion_interval

SIMILARITY = "similarity"
"""The check that needs no judge: whether a text resembles one of the last messages."""


@dataclass(frozen=True, slots=True)
class DimensionStatistics:
    """Checks of one dimension, over all attempts at all messages.

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
        retries: How many texts were written again.
        regeneration_failure_rate: The share of those that did not pass; ``None`` without any.
        similarity_failures: Attempts that resembled an earlier message too much.
        dimensions: By dimension, in the order in which they were first met.
        mean_total: Mean total of the committed attempts; ``None`` where there is none.
        breaker_open: Messages with a check that asked nobody because the circuit breaker was open.
        calls_per_message: Mean number of calls to a model; ``None`` where logs do not say.
        usd_per_message: Their mean cost; ``None`` when a price is not known.
    """

    messages: int
    outcomes: Mapping[GateOutcome, int]
    original_success_rate: float | None
    retries: int
    regeneration_failure_rate: float | None
    similarity_failures: int
    dimensions: Mapping[str, DimensionStatistics]
    mean_total: float | None
    breaker_open: int
    calls_per_message: float | None
    usd_per_message: float | None


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
        breaker_open=sum(any(one.found.is_breaker_open for one in _checks(result)) for result in checked),
        calls_per_message=_per_message([[one.found.calls for one in _checks(result)] for result in checked]),
        usd_per_message=_per_message([[one.found.cost_usd for one in _checks(result)] for result in checked]),
    )


def _checks(result: GateResult) -> list[DimensionCheck]:
    return [check for attempt in result.attempts for check in attempt.checks]


def _per_message(found: Sequence[Sequence[float | None]]) -> float | None:
    """The mean over messages of the sums over their checks; ``None`` without messages or when one is not known."""
    sums = [sum(known) for values in found if len(known := [one for one in values if one is not None]) == len(values)]
    return fmean(sums) if sums and len(sums) == len(found) else None


@dataclass(frozen=True, slots=True)
class FailureRate:
    """The rate at which texts failed one check.

    Attributes:
        check: A dimension, or ``SIMILARITY``.
        is_retry: Whether rewritten texts are counted, instead of first ones. They are not a fair sample of what the
            agent writes: only where a text had failed there is one.
        judged: Texts that got a score.
        failed: Those below the threshold; for similarity, above the limit.
        unanswered: Texts that no judge answered for; they passed.
        interval: Wilson's 95 % interval of ``failed`` over ``judged``, each text taken as independent of the others.
        mean: Mean score, 0 to 9; for similarity the mean share, 0 to 1; ``None`` when none was judged.
    """

    check: str
    is_retry: bool
    judged: int
    failed: int
    unanswered: int
    interval: Interval
    mean: float | None = None

    @property
    def rate(self) -> float | None:
        """The share of judged texts that failed, 0 to 1; ``None`` when none was judged."""
        return self.failed / self.judged if self.judged else None


def failure_rates(results: Iterable[GateResult]) -> list[FailureRate]:
    """For every check that took place, first texts and then rewritten texts; checks in the order first met."""
    attempts = [attempt for result in results if result.outcome is not None for attempt in result.attempts]
    names = dict.fromkeys(check.dimension for attempt in attempts for check in attempt.checks)
    kinds = [*names, SIMILARITY] if any(attempt.similarity is not None for attempt in attempts) else [*names]
    return [
        _rate(name, is_retry, [attempt for attempt in attempts if (attempt.number > 0) is is_retry])
        for name in kinds
        for is_retry in (False, True)
    ]


def _rate(name: str, is_retry: bool, attempts: Iterable[Attempt]) -> FailureRate:
    if name == SIMILARITY:
        alike = [(attempt.similarity, attempt.is_similar) for attempt in attempts]
        values = [share for share, _ in alike if share is not None]
        found = [(True, is_failed) for share, is_failed in alike if share is not None]
    else:
        checks = [check for attempt in attempts for check in attempt.checks if check.dimension == name]
        values = [check.found.score for check in checks if check.found.score is not None]
        found = [(check.is_answered, not check.is_passed) for check in checks]
    judged = sum(is_answered for is_answered, _ in found)
    failed = sum(is_failed for _, is_failed in found)
    mean = fmean(values) if values else None
    interval = proportion_interval(failed, judged)
    return FailureRate(name, is_retry, judged, failed, len(found) - judged, interval, mean)


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
