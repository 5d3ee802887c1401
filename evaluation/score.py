"""Results of metrics: a score on its scale, and the ledger rows from which the score is computed.

``score``, ``numerator`` and ``denominator`` are derived from the rows in one function, :func:`summarise`. No other
function computes them, so the number that a person sees always opens to rows that add up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from evaluation.text.display import picked_data

LOW_EVIDENCE = "low evidence"
"""The words for a score that rests on too little."""
AT_CHANCE = "no better than scrambled copies"
"""The words for a score that lies at chance, see ``control_words.is_at_chance``: never "passed" nor "better"."""


@dataclass(frozen=True, slots=True)
class CoverageRule:
    """Limits below which a score rests on too little of what was considered.

    Attributes:
        noun: What has weight, after the counts: "references to the past settled".
        fewest: Fewer rows with weight are low evidence.
        least_share: So is a smaller share of all rows, from 0 to 1.
    """

    noun: str
    fewest: int
    least_share: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of considered rows that a score rests on, in one game or over several.

    Attributes:
        rule: When that is too little.
        settled: Rows with weight.
        considered: All rows; zero where a score stands though nothing was considered ("no references").
        right: Those of ``settled`` that count, in one game; ``None`` over several, whose mean is not a ratio of sums.
    """

    rule: CoverageRule
    settled: int
    considered: int
    right: float | None = None

    @property
    def is_low(self) -> bool:
        """Whether the score rests on too few rows, or on too small a share of those considered."""
        return self.settled < self.rule.fewest or self.settled < self.rule.least_share * self.considered

    @property
    def words(self) -> str:
        """The text beside a score: "22 of 51 references to the past settled, low evidence"."""
        if not self.considered:
            return LOW_EVIDENCE
        return f"{self.settled} of {self.considered} {self.rule.noun}" + (f", {LOW_EVIDENCE}" if self.is_low else "")

    @property
    def mark(self) -> str:
        """Text to append to a score in a cell: " (17/20)" is right of total, as in the rubric; ", low evidence"."""
        right = "" if self.right is None or not self.considered else f" ({self.right:g}/{self.settled})"
        return right + (f", {LOW_EVIDENCE}" if self.is_low else "")

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible."""
        return {"settled": self.settled, "considered": self.considered, "is_low_evidence": self.is_low}


def added_coverage(parts: Iterable[Coverage | None]) -> Coverage | None:
    """The coverage of several games of one metric together; ``None`` when no game has one."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return Coverage(known[0].rule, sum(one.settled for one in known), sum(one.considered for one in known))


class Status(StrEnum):
    """``not_applicable``: nothing to score. ``pending``: waits for a human or a judge. Neither holds a number."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    PENDING = "pending"


class RowVerdict(StrEnum):
    """Whether a considered item adds to the numerator, only to the denominator, or to neither."""

    COUNTS = "counts"
    DOES_NOT_COUNT = "does_not_count"
    EXCLUDED = "excluded"


class Method(StrEnum):
    """Decider of a row, in the order of precedence: each outranks those before it."""

    RULE = "rule"
    READER = "reader"
    JUDGE = "judge"
    HUMAN = "human"

    @property
    def is_decision(self) -> bool:
        """Whether the row was decided after it was computed, so that it stands in place of the computed one."""
        return self in (Method.JUDGE, Method.HUMAN)


_PRECEDENCE = {method: place for place, method in enumerate(Method)}


class WhenEmpty(StrEnum):
    """The state of a metric when no row carries weight."""

    NOT_APPLICABLE = "not_applicable"
    PENDING = "pending"
    FULL_MARKS = "full_marks"
    """Full marks when nothing was considered at all, not applicable when everything considered is unsettled."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a metric: ``percent`` (0 to 100) or ``likert`` (1 to 5)."""

    name: str
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def limits(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def share(self, value: float) -> float:
        """The place of a value between both ends, from 0 to 1."""
        return (value - self.low) / self.width


PERCENT = Scale("percent", 0.0, 100.0)
LIKERT = Scale("likert", 1.0, 5.0)


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """Fixed facts of a metric. ``version`` changes whenever the same transcript could get another score.

    Attributes:
        coverage: For metrics that leave out what they cannot decide: when the rest is low evidence.
        derive: Computes entries of ``details`` from the rows, again each time that rows are replaced.
        note: Words a remark from the rows, again each time that rows are replaced; empty for none.
    """

    name: str
    label: str
    scale: Scale
    threshold: float
    version: str
    when_empty: WhenEmpty = WhenEmpty.NOT_APPLICABLE
    empty_reason: str = "nothing to score"
    coverage: CoverageRule | None = None
    derive: Callable[[Sequence[LedgerRow]], Mapping[str, Any]] | None = None
    note: Callable[[Sequence[LedgerRow]], str] | None = None


class Evidence(NamedTuple):
    """Characters ``start`` (inclusive) to ``end`` (exclusive) of a message's original text, in code points.

    ``message_id`` is set only when the text stands in another message than the row's own.
    """

    start: int
    end: int
    text: str
    message_id: str | None = None

    def as_dict(self) -> dict[str, Any]:
        extra = {} if self.message_id is None else {"message_id": self.message_id}
        return {"start": self.start, "end": self.end, "text": self.text} | extra


JUDGES = "judges"
"""The detail of a result that lists the models that decided any of its rows."""

OVERRULED = "overruled"
"""The detail of a result that says which of the judges' verdicts proof overrules."""

PROOF = "proof"
"""The detail of a row of the rule that rests on what anybody can check: no reader or judge overrules it."""

DISMISSED = "dismissed"
"""The detail of a row that makes it :attr:`LedgerRow.is_dismissed`."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One thing that a metric considered: a message, claim, player, phrase or rating.

    Attributes:
        id: Stable across evaluations of the same transcript: metric, message or player, and span.
        kind: ``message``, ``claim``, ``player``, ``phrase`` or ``rating``.
        numerator: What the row adds above the line; 0 unless it counts.
        denominator: What the row adds below the line; 0 when it is excluded.
        reason: One sentence that a person understands.
        refers_to: Id of the other message or the vote on which the verdict rests.
        details: Whatever else the row knows, JSON-compatible (speech acts, counts, the nearest twin).
    """

    id: str
    kind: str
    verdict: RowVerdict
    reason: str
    message_id: str | None = None
    player: str | None = None
    numerator: float = 0.0
    denominator: float = 0.0
    method: Method = Method.RULE
    evidence: tuple[Evidence, ...] = ()
    refers_to: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[LedgerRow], tuple[Any, ...]]:
        # Rows are most of what a process that scores sends back; by default each is packed field by field in Python.
        return LedgerRow, _row_values(self)

    @property
    def metric(self) -> str:
        """The metric that the row belongs to, as its id says."""
        return self.id.partition(":")[0]

    @property
    def is_dismissed(self) -> bool:
        """Whether it turned out to be nothing that its metric considers: it is shown, and counted nowhere."""
        return self.verdict is RowVerdict.EXCLUDED and bool(self.details.get(DISMISSED))

    def as_dict(self) -> dict[str, Any]:
        """The row as the JSON output shows it."""
        # Written out: a game has thousands of rows, and by names alone each takes six times as long.
        return {
            "id": self.id,
            "kind": self.kind,
            "message_id": self.message_id,
            "player": self.player,
            "verdict": str(self.verdict),
            "numerator": self.numerator,
            "denominator": self.denominator,
            "method": str(self.method),
            "reason": self.reason,
            "evidence": [evidence.as_dict() for evidence in self.evidence],
            "refers_to": self.refers_to,
            "details": dict(self.details),
        }


_row_values = attrgetter(*(one.name for one in fields(LedgerRow)))


def row_id_of(metric: str, rest: str) -> str:
    """The id of a row of a metric's ledger; ``rest`` tells it from the others: message or player, and span."""
    return f"{metric}:{rest}"


def decided(row_id: str, kind: str, counts: bool | None, reason: str, **fields: Any) -> LedgerRow:
    """A row of weight one: ``counts`` true, false, or ``None`` for excluded."""
    if counts is None:
        return LedgerRow(row_id, kind, RowVerdict.EXCLUDED, reason, **fields)
    verdict = RowVerdict.COUNTS if counts else RowVerdict.DOES_NOT_COUNT
    return LedgerRow(row_id, kind, verdict, reason, numerator=float(counts), denominator=1.0, **fields)


def redecided(row: LedgerRow, verdict: RowVerdict, **changes: Any) -> LedgerRow:
    """``row`` with another verdict and whatever else changes with it.

    The row keeps its weight, its denominator; one that had none weighs one. It adds all of its weight to the numerator
    when it counts, nothing when it does not, and to neither side when it is excluded.
    """
    weight = 0.0 if verdict is RowVerdict.EXCLUDED else row.denominator or 1.0
    numerator = weight if verdict is RowVerdict.COUNTS else 0.0
    return replace(row, verdict=verdict, numerator=numerator, denominator=weight, **changes)


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric's score on one transcript, with the ledger it is computed from.

    Attributes:
        score: On the metric's scale; ``None`` when not applicable or pending.
        reason: Why it has no score; beside a score, why it fails whatever that is.
        threshold: The threshold that it is judged by.
        notes: What the rule remarked about its own rows ("no references"); :attr:`remarks` is what is shown.
        details: Metric-specific, JSON-compatible extras (similarity matrix, coverage, robotic phrases).
        replaced: Rows that a judge's decision or an override replaced, as they were.
        control: The permutation control, once computed.
    """

    definition: MetricDefinition
    status: Status
    score: float | None
    numerator: float
    denominator: float
    threshold: float
    ledger: tuple[LedgerRow, ...]
    reason: str = ""
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    replaced: tuple[LedgerRow, ...] = ()
    control: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def coverage(self) -> Coverage | None:
        """The settled part of what was considered.

        ``None`` for metrics without a coverage rule, for those without a score where nothing was considered, and for
        results of versions that did not count it.
        """
        rule, considered = self.definition.coverage, self.details.get("considered")
        if rule is None or considered is None or (not considered and self.score is None):
            return None
        return Coverage(rule, self.details.get("settled", 0), considered, self.numerator)

    @property
    def changed(self) -> int:
        """The number of rows whose verdict people changed; their ratings are none."""
        before = {row.id: row.verdict for row in reversed(self.replaced)}
        return sum(row.method is Method.HUMAN and before.get(row.id, row.verdict) != row.verdict for row in self.ledger)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks beside the score: the notes, the coverage, with "low evidence" where it is, and who read it."""
        found = self.coverage
        told = (found.words if found else "", self.reading_words, changed_words(self.changed))
        return (*self.notes, *filter(None, told))

    @property
    def reading_words(self) -> str:
        """Words for who read and what proof overruled: "read by gpt-4o-mini; by rules alone 52.8 %"; else empty."""
        judges, by_rule = self.details.get(JUDGES, ()), self.details.get("by_rule")
        if not judges and (why := self.details.get("stood_down")):
            return f"rules decide: {why}"
        readers = judges or (("the built-in reader",) if by_rule is not None else ())
        kept = sum(row.method in (Method.RULE, Method.READER) for row in self.ledger) if judges else 0
        stayed = f", {kept} of {len(self.ledger)} rows left to the rule" if kept else ""
        words = [f"read by {', '.join(readers)}{stayed}" if readers else "", self.details.get(OVERRULED)]
        # Without a score, that of the rules would be a percentage of nothing that stands in the ledger.
        if by_rule is not None and self.score is not None:
            letter = "no score" if by_rule["score"] is None else f"{by_rule['score']:.1f} %"
            words.append(f"by rules alone {letter}")
        return "; ".join(filter(None, words))

    @property
    def method(self) -> Method:
        """The highest authority that decided any row."""
        return max({row.method for row in self.ledger}, key=_PRECEDENCE.__getitem__, default=Method.RULE)

    def as_dict(self) -> dict[str, Any]:
        """The result as the JSON output shows it."""
        return {
            **picked_data(self, "score", "numerator", "denominator", "threshold", "status"),
            "low_evidence": self.score is not None and self.coverage is not None and self.coverage.is_low,
            **picked_data(self.definition, "version"),
            "scale": self.definition.scale.name,
            "notes": list(self.remarks),
            **picked_data(self, "method", "reason", "details"),
            "control": {"status": "pending"} if self.control is None else dict(self.control),
            "ledger": [row.as_dict() for row in self.ledger],
        }


def changed_words(count: int) -> str:
    """The number of rows that people changed, in words: "2 changed by people"; empty for none."""
    return f"{count} changed by people" if count else ""


def summarise(
    definition: MetricDefinition,
    rows: Iterable[LedgerRow],
    *,
    threshold: float | None = None,
    not_applicable: str = "",
    failure: str = "",
    notes: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
) -> MetricResult:
    """The result that ``rows`` add up to: the only place where a score is computed.

    A percent score is 100 x numerator / denominator, a likert score their ratio. ``not_applicable`` is the reason why
    the metric cannot be asked of this transcript at all; rows are then kept for display but carry no score. Where the
    metric has a coverage rule, ``details`` say how many of the rows ``considered`` (all but dismissed ones) are
    ``settled`` (have weight), and which share that is (``coverage``, from 0 to 1; ``None`` without rows).
    ``failure`` is the reason why it fails whatever its score; it means nothing where there is no score.
    """
    ledger = tuple(rows)
    numerator = sum(row.numerator for row in ledger)
    denominator = sum(row.denominator for row in ledger)
    limit = definition.threshold if threshold is None else threshold
    status, score, reason = _outcome(definition, ledger, numerator, denominator, limit, not_applicable)
    if failure and score is not None:
        status, reason = Status.FAILED, failure
    if definition.note is not None:
        # A remark on the rule's rows would contradict the score of overridden ones.
        notes = tuple(filter(None, [definition.note(ledger)])) if not not_applicable else ()
    found = {**(details or {}), **_derived(definition, ledger)}
    return MetricResult(definition, status, score, numerator, denominator, limit, ledger, reason, notes, found)


def _derived(definition: MetricDefinition, ledger: Sequence[LedgerRow]) -> dict[str, Any]:
    """The details that follow from the rows, whoever decided them."""
    found = {} if definition.derive is None else dict(definition.derive(ledger))
    if definition.coverage is not None:
        settled = sum(row.denominator > 0 for row in ledger)
        considered = sum(not row.is_dismissed for row in ledger)
        share = settled / considered if considered else None
        found |= {"coverage": share, "settled": settled, "considered": considered}
    return found


def _outcome(
    definition: MetricDefinition,
    ledger: tuple[LedgerRow, ...],
    numerator: float,
    denominator: float,
    threshold: float,
    not_applicable: str,
) -> tuple[Status, float | None, str]:
    if not_applicable:
        return Status.NOT_APPLICABLE, None, not_applicable
    if denominator > 0:
        factor = 100.0 if definition.scale == PERCENT else 1.0
        score: float | None = factor * numerator / denominator
    elif definition.when_empty is WhenEmpty.FULL_MARKS and all(row.is_dismissed for row in ledger):
        score = definition.scale.high
    else:
        waits = definition.when_empty is WhenEmpty.PENDING
        return (Status.PENDING if waits else Status.NOT_APPLICABLE), None, definition.empty_reason
    assert score is not None
    return status_of(score, threshold), score, ""


def status_of(score: float, threshold: float) -> Status:
    """Whether a score reaches its threshold."""
    # Ratios like 0.7 * 100 miss their threshold by a rounding error of the last bit.
    return Status.PASSED if score >= threshold - 1e-9 else Status.FAILED


class Judged(Protocol):
    """A metric's outcome, with or without its ledger."""

    @property
    def status(self) -> Status: ...
    @property
    def score(self) -> float | None: ...
    @property
    def reason(self) -> str: ...


def failure_beyond_score(metric: Judged) -> str:
    """Why a metric fails whatever its score and its threshold; empty when its score decides."""
    return metric.reason if metric.score is not None and metric.status is Status.FAILED else ""


def status_by(metric: Judged, threshold: float) -> Status:
    """The status of a result by another threshold; a failure that is not by score stays one."""
    if metric.score is None or failure_beyond_score(metric):
        return metric.status
    return status_of(metric.score, threshold)


def replace_rows(result: MetricResult, rows: Mapping[str, LedgerRow]) -> MetricResult:
    """``result`` with the rows of the same id replaced and everything recomputed; the replaced rows are kept.

    Rows whose id the ledger does not have are ignored here: the caller lists them as orphaned.
    """
    replaced = tuple(row for row in result.ledger if row.id in rows)
    if not replaced:
        return result
    ledger = tuple(rows.get(row.id, row) for row in result.ledger)
    not_applicable = result.reason if result.status is Status.NOT_APPLICABLE and result.denominator > 0 else ""
    fresh = summarise(
        result.definition,
        ledger,
        threshold=result.threshold,
        not_applicable=not_applicable,
        failure=failure_beyond_score(result),
        notes=result.notes,
        details=result.details,
    )
    return replace(fresh, replaced=result.replaced + replaced, control=result.control)
