"""Statistics of corrections, and the words for settings, outcomes and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult
from evaluation.corrections.config import CorrectionConfig
from evaluation.files.bundled import parse_yaml
from evaluation.statistics.intervals import Interval, proportion_interval
from evaluation.text.display import counted, listed

SIMILARITY = "similarity"
"""The check that needs no judge: whether a text resembles one of the last messages."""


@dataclass(frozen=True, slots=True)
class GateStatistics:
    """Counts over messages that were checked.

    Attributes:
        messages: How many messages were checked.
        outcomes: How often each outcome came, every outcome named.
        original_success_rate: The share of messages whose first text passed; ``None`` without messages.
        retries: How many texts were written again.
        regeneration_failure_rate: The share of those that did not pass; ``None`` without any.
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


MARK, COUNT, SWITCH = "0 to 9", "count", "on or off"


@dataclass(frozen=True, slots=True)
class Setting:
    """One column of the table.

    Attributes:
        part: Which mechanism it belongs to.
        label: What it is called.
        meaning: What it does.
        kind: Which values it takes: ``MARK``, ``COUNT``, ``SWITCH``, or "0 to 1" for a share.
        switch: The setting that must be on for this one to matter; empty when it always does.
    """

    part: str
    label: str
    meaning: str
    kind: str
    switch: str = ""

    def shown(self, value: bool | float) -> str:
        """A value in words: "on", "7", "0.6"."""
        return ("on" if value else "off") if self.kind == SWITCH else f"{value:g}"


def default_of(name: str) -> bool | float:
    """The default of a setting, which holds for an agent that has no configuration."""
    value: bool | float = CorrectionConfig.model_fields[name].default
    return value


@cache
def settings() -> Mapping[str, Setting]:
    """Every setting by the name of its column, in the order in which a form shows them."""
    held = parse_yaml(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))
    return {name: Setting(**each) for name, each in held.items()}


OUTCOMES: Mapping[GateOutcome, str] = {
    GateOutcome.PASSED: "passed at once",
    GateOutcome.PASSED_AFTER_RETRY: "passed after a retry",
    GateOutcome.CORRECTED: "never passed, a retry is best",
    GateOutcome.FORCED_THROUGH: "never passed, the original is best",
    GateOutcome.TIMEOUT_PASS_THROUGH: "no judge answered",
}
"""What each outcome means, short enough for a legend."""

OUTCOME_MEANINGS: Mapping[GateOutcome, str] = {
    GateOutcome.PASSED: "The first text passed every check.",
    GateOutcome.PASSED_AFTER_RETRY: "A rewritten text passed every check.",
    GateOutcome.CORRECTED: "No text passed every check; a rewritten one scored best.",
    GateOutcome.FORCED_THROUGH: "No text passed every check; the first one scored best.",
    GateOutcome.TIMEOUT_PASS_THROUGH: "Every judge failed or was late, so the message went out unjudged.",
}


def outcome_words(results: Iterable[GateResult]) -> tuple[str, str]:
    """The outcomes of messages: a headline, and what became of those that did not pass at once in sentences.

    "2 of 5 messages passed at once.", "1 failed every try, the best text sent; 2 passed once written again."
    Names the check that most first texts failed; empty without a message that was checked.
    """
    known = list(results)
    found = gate_statistics(known)
    if not found.messages:
        return "", ""
    count = found.outcomes
    never = count[GateOutcome.CORRECTED] + count[GateOutcome.FORCED_THROUGH]
    unsent = sum(result.outcome is not None and result.committed is None for result in known)
    fate = f"failed every try ({unsent:,} not sent)" if unsent else "failed every try, the best text sent"
    ways = {
        fate: never,
        "passed once written again": count[GateOutcome.PASSED_AFTER_RETRY],
        "went out unjudged, because no judge answered": count[GateOutcome.TIMEOUT_PASS_THROUGH],
    }
    parts = [f"{number:,} {way}" for way, number in ways.items() if number]
    told = [f"{'; '.join(parts)}."] if parts else []
    first = [one for one in failure_rates(known) if not one.is_retry and one.failed]
    if first:
        most = max(one.failed for one in first)
        worst = [one for one in first if one.failed == most]
        of = f" of {counted(worst[0].judged, 'first text')}" if len(worst) == 1 else " each"
        told.append(f"What failed most: {listed([one.check for one in worst])}, {most:,}{of}.")
    headline = f"{count[GateOutcome.PASSED]:,} of {counted(found.messages, 'message')} passed at once."
    return headline, " ".join(told)


def statistics_words(found: GateStatistics) -> list[tuple[str, str]]:
    """Labels and values of the gate's statistics beyond outcomes and checks, in the order in which they are shown."""
    calls, usd = found.calls_per_message, found.usd_per_message
    return [
        ("First texts that passed", _share(found.original_success_rate)),
        ("Texts written again", f"{found.retries:,}"),
        ("Rewritten texts that failed", _share(found.regeneration_failure_rate)),
        ("Mean score of what was sent", _NONE if found.mean_total is None else f"{found.mean_total:.1f}"),
        ("Calls per message", _UNKNOWN if calls is None else f"{calls:.1f}"),
        ("Cost per message", _UNKNOWN if usd is None else f"${usd:.4f}"),
        ("Messages sent unchecked, as judges kept failing", f"{found.breaker_open:,}"),
    ]


_NONE = "none"
_UNKNOWN = "not known"


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"
