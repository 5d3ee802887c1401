"""The verdict on a transcript or a test: 5 of the 7 metrics must pass, engagement among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from evaluation.judged_by import JudgedBy, Judges
from evaluation.rubric.at_chance import is_at_chance
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, failure_words
from evaluation.score import AT_CHANCE, JUDGES, Coverage, MetricResult, Status, failure_beyond_score, status_by
from evaluation.text.display import counted, dollars, listed, picked_data
from evaluation.transcript import Cost

PASSES_NEEDED = 5
PASSES_NEEDED_WITHOUT_ENGAGEMENT = PASSES_NEEDED - 1
COST_LIMIT_USD = 3.0


class VerdictStatus(StrEnum):
    """``pending`` waits for a rater or a judge; ``inapplicable`` could never reach 5 passes."""

    PASSED = "passed"
    FAILED = "failed"
    PENDING = "pending"
    INAPPLICABLE = "inapplicable"


class Scored(Protocol):
    """The part of a metric that the verdict needs; ``MetricResult`` and ``MetricScore`` both have it."""

    @property
    def status(self) -> Status: ...
    @property
    def score(self) -> float | None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def reason(self) -> str: ...
    @property
    def coverage(self) -> Coverage | None: ...


class MetricScore(NamedTuple):
    """A metric's outcome without its ledger, as a stored row or a mean holds it."""

    status: Status
    score: float | None
    threshold: float
    reason: str = ""
    coverage: Coverage | None = None
    control: Mapping[str, Any] | None = None
    judges: Judges = ()
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome with every reason for it in plain words, the deciding ones first.

    Attributes:
        passed_count: How many metrics pass, engagement included when it does.
        low_evidence_count: How many of those pass on low evidence.
        at_chance_count: How many more reach their threshold no better than scrambled copies do: the rubric's rule
            counts them, so they count for ``status``.
    """

    status: VerdictStatus
    passed_count: int
    reasons: tuple[str, ...]
    low_evidence_count: int = 0
    at_chance_count: int = 0

    @property
    def passes(self) -> str:
        """:func:`passes_words` of its counts."""
        return passes_words(self.passed_count, self.at_chance_count)

    @property
    def count_words(self) -> str:
        """Words behind a number of passes: ", 1 of them on low evidence, and 1 more, no better than scrambled copies".

        Empty where all that reach their threshold pass without a reserve.
        """
        return _low_evidence_words(self.low_evidence_count) + _at_chance_words(self.at_chance_count)

    def as_dict(self) -> dict[str, Any]:
        """The verdict as the JSON output shows it."""
        return picked_data(self, "status", "passed_count", "low_evidence_count", "at_chance_count", "reasons")


def passes_words(passed: int, at_chance: int, of: int = len(DEFINITIONS)) -> str:
    """Passed metrics in short: "4 of 7", or "4 of 7, 2 at chance": no better than scrambled copies.

    The rubric's rule counts both, so the second number tells why 4 may be enough.
    """
    return f"{passed} of {of}" + (f", {at_chance} at chance" if at_chance else "")


def _low_evidence_words(count: int) -> str:
    return f", {count} of them on low evidence" if count else ""


def _at_chance_words(count: int) -> str:
    return f", and {count} more, {AT_CHANCE}" if count else ""


def compute_verdict(metrics: Mapping[str, Scored], cost: Cost | None) -> Verdict:
    """The verdict on one transcript (rubric 1.0, overall evaluation).

    In this order: ``failed`` when the cost is above 3.00 USD or engagement below its threshold; ``inapplicable`` when
    fewer than 5 metrics can apply; ``failed`` when no pending metric could still bring 5 passes; ``pending`` while one
    could, or while engagement is unrated; else ``passed``. An unknown cost decides nothing, and a reason says so.

    Args:
        metrics: By name. One that is missing could not be computed: it counts as pending, for absence is not a mark.
        cost: What the transcript cost; ``None``, or all zero, is unknown.
    """
    return judge_scores(metrics, known_usd(cost))


def judge_scores(metrics: Mapping[str, Scored], total_usd: float | None) -> Verdict:
    """:func:`compute_verdict` where only the cost in US dollars is at hand (``None``: unknown)."""
    tally = _Tally.of(metrics, tuple(DEFINITIONS))
    findings = [*_cost_finding(total_usd), *_engagement_finding(metrics), *_count_finding(tally, PASSES_NEEDED)]
    return _verdict(findings, tally, metrics, total_usd)


def judge_automatic(metrics: Mapping[str, Scored], total_usd: float | None) -> Verdict:
    """The verdict that a machine can give before anybody has rated: may the transcript still pass?

    A passing transcript has 5 passes with engagement among them, hence at least 4 among the other six. So this passes
    when at least 4 of those six pass, the cost is not known to be above 3.00 USD, and at least 5 of all seven can apply
    (engagement always can). A rating already given plays no part.
    """
    tally = _Tally.of(metrics, tuple(name for name in DEFINITIONS if name != ENGAGEMENT.name))
    findings = [*_cost_finding(total_usd), *_count_finding(tally, PASSES_NEEDED_WITHOUT_ENGAGEMENT)]
    return _verdict(findings, tally, metrics, total_usd)


def critical_reasons(metrics: Mapping[str, Scored], total_usd: float | None) -> tuple[str, ...]:
    """Why it failed critically: a cost above 3.00 USD, engagement below its threshold. Empty when it did not."""
    return tuple(reason for _, reason in (*_cost_finding(total_usd), *_engagement_finding(metrics)))


def known_usd(cost: Cost | None) -> float | None:
    """US dollars, or ``None`` when nothing was recorded (a cost of zero with zero tokens is unknown, never free)."""
    return cost.total_usd if cost is not None and cost.is_known else None


def apply_thresholds(metrics: Mapping[str, Scored], thresholds: Mapping[str, float]) -> dict[str, MetricScore]:
    """The same scores judged by today's thresholds; metrics that ``thresholds`` does not name keep their own.

    A failure that is not by score stays one whatever the threshold.
    """
    return {name: _rejudged(metric, thresholds.get(name, metric.threshold)) for name, metric in metrics.items()}


def _rejudged(metric: Scored, threshold: float) -> MetricScore:
    return MetricScore(
        status_by(metric, threshold),
        metric.score,
        threshold,
        metric.reason,
        metric.coverage,
        metric_control(metric),
        metric_judges(metric),
        metric_changed(metric),
    )


def has_low_evidence(metric: Scored) -> bool:
    """Whether a score rests on too few rows, or on none at all ("no references, 100 %"); false without a score."""
    return metric.score is not None and metric.coverage is not None and metric.coverage.is_low


def is_metric_at_chance(metric: Scored) -> bool:
    """:func:`~evaluation.rubric.at_chance.is_at_chance` of one game's score, or of the mean of several games."""
    controls = getattr(metric, "controls", None) or (metric_control(metric),)
    return metric.score is not None and is_at_chance(controls)


def shown_status(metric: Scored) -> str:
    """The status as it is shown: :data:`AT_CHANCE` for a pass, ``failed_at_chance``, ``passed_low_evidence`` and
    ``failed_low_evidence`` beside those of ``Status``."""
    if is_metric_at_chance(metric):
        return AT_CHANCE if metric.status is Status.PASSED else "failed_at_chance"
    return f"{metric.status}_low_evidence" if has_low_evidence(metric) else str(metric.status)


def marked_status(name: str, metric: Scored) -> str:
    """:func:`shown_status`; "passed_not_compared" for a pass that may turn out to be at chance, as no game of it was
    compared with scrambled copies yet."""
    if metric.status is Status.PASSED and name != ENGAGEMENT.name:
        controls = getattr(metric, "controls", None) or (metric_control(metric),)
        if all(one is None or one.get("status") == "pending" for one in controls):
            return "passed_not_compared"
    return shown_status(metric)


def metric_control(metric: Scored) -> Mapping[str, Any] | None:
    """The control of one game's score; ``None`` while it is not computed."""
    control: Mapping[str, Any] | None = getattr(metric, "control", None)
    return control


def metric_changed(metric: Scored) -> int:
    """The number of rows behind a score, or a mean, that people changed."""
    return int(getattr(metric, "changed", 0))


def metric_judges(metric: Scored) -> Judges:
    """The judges of one game's score; of a result with its ledger without their instructions."""
    if isinstance(metric, MetricResult):
        return tuple(JudgedBy(model) for model in sorted(metric.details.get(JUDGES, ())))
    judges: Judges = getattr(metric, "judges", ())
    return judges


_Finding = tuple[VerdictStatus, str]


@dataclass(frozen=True, slots=True)
class _Tally:
    """Names of the metrics asked about, in the rubric's order, by what they contribute."""

    asked: tuple[str, ...]
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    inapplicable: tuple[str, ...]
    waiting: tuple[str, ...]
    low_evidence: int
    at_chance: int

    @classmethod
    def of(cls, metrics: Mapping[str, Scored], asked: tuple[str, ...]) -> _Tally:
        status = {name: metrics[name].status if name in metrics else Status.PENDING for name in asked}
        order = (Status.PASSED, Status.FAILED, Status.NOT_APPLICABLE, Status.PENDING)
        groups = [tuple(name for name in asked if status[name] is wanted) for wanted in order]
        passed, failed, inapplicable, waiting = groups
        shown = Counter(shown_status(metrics[name]) for name in passed)
        return cls(asked, passed, failed, inapplicable, waiting, shown["passed_low_evidence"], shown[AT_CHANCE])


def _cost_finding(total_usd: float | None) -> Iterator[_Finding]:
    if total_usd is not None and total_usd > COST_LIMIT_USD:
        yield (
            VerdictStatus.FAILED,
            f"The cost of {dollars(total_usd)} USD is above the limit of {COST_LIMIT_USD:.2f} USD.",
        )


def _engagement_finding(metrics: Mapping[str, Scored]) -> Iterator[_Finding]:
    engagement = metrics.get(ENGAGEMENT.name)
    if engagement is not None and engagement.status is Status.FAILED:
        yield VerdictStatus.FAILED, f"{_failed_reason(ENGAGEMENT.name, engagement)}; it is mandatory."


def _count_finding(tally: _Tally, needed: int) -> Iterator[_Finding]:
    passed, waiting = len(tally.passed), len(tally.waiting)
    applicable = len(DEFINITIONS) - len(tally.inapplicable)
    count = f"{passed - tally.at_chance} of {len(tally.asked)} metrics pass"
    count += _low_evidence_words(tally.low_evidence) + _at_chance_words(tally.at_chance)
    if applicable < PASSES_NEEDED:
        names = listed([DEFINITIONS[name].label for name in tally.inapplicable])
        why = f"Only {applicable} of {len(DEFINITIONS)} metrics apply, and {PASSES_NEEDED} are needed: no {names}."
        yield VerdictStatus.INAPPLICABLE, why
    elif passed + waiting < needed:
        rest = f", and the {counted(waiting, 'pending one')} cannot bring that" if waiting else ""
        yield VerdictStatus.FAILED, f"Only {count}; {needed} are needed{rest}."
    elif passed < needed:
        yield VerdictStatus.PENDING, f"{count} so far; {needed} are needed."
    elif ENGAGEMENT.name in tally.waiting:
        yield VerdictStatus.PENDING, f"{count}, but engagement, which is mandatory, is not settled yet."
    else:
        yield (
            VerdictStatus.PASSED,
            f"{count}; {needed} are needed{', and the rule counts both' * bool(tally.at_chance)}.",
        )


def _verdict(
    findings: list[_Finding], tally: _Tally, metrics: Mapping[str, Scored], total_usd: float | None
) -> Verdict:
    reasons = [reason for _, reason in findings]
    reasons.extend(_remarks(tally, metrics))
    if total_usd is None:
        reasons.append("The cost is unknown, so it did not enter the verdict.")
    better = len(tally.passed) - tally.at_chance
    return Verdict(findings[0][0], better, tuple(reasons), tally.low_evidence, tally.at_chance)


def _remarks(tally: _Tally, metrics: Mapping[str, Scored]) -> Iterator[str]:
    for name in tally.failed:
        if name != ENGAGEMENT.name:  # said already, among what decides
            yield f"{_failed_reason(name, metrics[name])}."
    for name in tally.inapplicable:
        yield f"{DEFINITIONS[name].label} does not apply{_because(metrics[name])}."
    for name in tally.waiting:
        given = metrics.get(name)
        yield f"{DEFINITIONS[name].label} " + (f"is pending{_because(given)}." if given else "could not be computed.")


def _failed_reason(name: str, metric: Scored) -> str:
    definition = DEFINITIONS[name]
    if metric.score is None:
        return f"{definition.label} failed"
    failure = failure_beyond_score(metric)
    return f"{definition.label} is {failure_words(definition, metric.score, metric.threshold, failure)}"


def _because(metric: Scored) -> str:
    return f": {metric.reason}" if metric.reason else ""
