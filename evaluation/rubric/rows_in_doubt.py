"""Find ledger rows that a person should check, without a model, with the effect of each decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.score import PROOF, LedgerRow, Method, MetricResult, RowVerdict

Row = TypeVar("Row")

WEAK_LINK, STRONG_LINK = 25.0, 90.0
"""Link strengths (percentiles, 0 to 100) below and above which a row that says otherwise is worth a look."""


class ReviewKind(StrEnum):
    """Why a row is worth a look."""

    UNVERIFIED = "unverified reference"
    BARE_KEYWORD = "keyword, no argument"
    NO_KEYWORD = "argues without a keyword"
    UNCODED = "talks about players, role unclear"
    WEAK_LINK = "barely an answer, counted"
    STRONG_LINK = "likely an answer, not counted"
    UNSURE = "the reader disagrees"
    MAY_ANSWER = "may be an answer, left open"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One row to be decided.

    Attributes:
        row_id: Its id in the metric's ledger.
        verdict: Its verdict as it stands.
        before: The score as it stands, from 0 to 100; ``None`` while nothing is settled.
        if_counts: The score when the row counts, from 0 to 100; ``None`` for no score.
        if_not: The same when it does not count.
        if_excluded: The same when it is left out.
    """

    metric: str
    row_id: str
    verdict: RowVerdict
    kind: ReviewKind
    before: float | None
    if_counts: float | None
    if_not: float | None
    if_excluded: float | None

    @property
    def stake(self) -> float:
        """The largest move that a decision could make, in points, at least 0; 100 while there is no score to move."""
        if self.before is None:
            return 100.0
        after = (self.if_counts, self.if_not, self.if_excluded)
        return max(abs(one - self.before) for one in after if one is not None)

    def decides(self, thresholds: Mapping[str, float]) -> bool:
        """Whether a decision on this row alone could change that its metric passes or fails; by today's thresholds."""
        return decides(thresholds[self.metric], (self.before, self.if_counts, self.if_not, self.if_excluded))

    def effect(self, verdict: RowVerdict) -> str:
        """The effect of a decision on the score: "+5.0 points", "the score is then 100.0 %", "no score"."""
        by_verdict = {RowVerdict.COUNTS: self.if_counts, RowVerdict.DOES_NOT_COUNT: self.if_not}
        after = by_verdict.get(verdict, self.if_excluded)
        if after is None:
            return "no score"
        return f"the score is then {after:.1f} %" if self.before is None else f"{after - self.before:+.1f} points"


def decides(limit: float, scores: Sequence[float | None]) -> bool:
    """Whether scores, ``None`` for none, stand on more than one side of a threshold."""
    return len({None if one is None else one >= limit for one in scores}) > 1


def review_items(results: Mapping[str, MetricResult]) -> tuple[ReviewItem, ...]:
    """The rows of a transcript that rule or reader decided and a person may well decide otherwise.

    Args:
        results: By metric, with their ledgers as they stand. Coherence rows are offered once their controls, which hold
            the link strengths, are computed.

    Returns:
        Those that could move their score most first, as ``most_at_stake_first`` has them.
    """
    found = [
        _item(result, row, kind)
        for result in results.values()
        for row, kind in _offered(result)
        if not row.method.is_decision
    ]
    return tuple(most_at_stake_first(found, lambda item: item))


def most_at_stake_first(rows: Iterable[Row], item_of: Callable[[Row], ReviewItem]) -> list[Row]:
    """Rows to review in the order in which they are shown: those that could move their score most first.

    Of equal ones, references that the record does not settle come last; the rest stays in the order in which it came.
    """
    return sorted(rows, key=lambda row: (-item_of(row).stake, item_of(row).kind is ReviewKind.UNVERIFIED))


def _offered(result: MetricResult) -> Iterator[tuple[LedgerRow, ReviewKind]]:
    for row in result.ledger:
        kind = _KINDS[result.name](row) if result.name in _KINDS else None
        if kind is not None:
            yield row, kind


def _memory(row: LedgerRow) -> ReviewKind | None:
    return ReviewKind.UNVERIFIED if row.verdict is RowVerdict.EXCLUDED else None


UNSURE = "unsure"
"""The kind of review of a row of which neither is sure: that the rule is right, or that it is not."""


def _depth(row: LedgerRow) -> ReviewKind | None:
    offered = row.details.get("review")
    if row.method is Method.READER or not offered:
        return None
    if offered["kind"] == UNSURE:
        return ReviewKind.UNSURE
    return ReviewKind.BARE_KEYWORD if row.verdict is RowVerdict.COUNTS else ReviewKind.NO_KEYWORD


def _role(row: LedgerRow) -> ReviewKind | None:
    is_open = row.verdict is RowVerdict.EXCLUDED and row.details.get("marks")
    return ReviewKind.UNCODED if is_open else None


def _coherence(row: LedgerRow) -> ReviewKind | None:
    if row.method is Method.READER or row.details.get(PROOF):
        return None
    if (row.details.get("review") or {}).get("kind") == UNSURE:
        return ReviewKind.MAY_ANSWER
    strength = row.details.get("link_strength")
    if strength is None:
        return None
    if row.verdict is RowVerdict.COUNTS:
        return ReviewKind.WEAK_LINK if strength <= WEAK_LINK else None
    return ReviewKind.STRONG_LINK if strength >= STRONG_LINK else None


_KINDS = {
    MEMORY_ACCURACY.name: _memory,
    STRATEGIC_DEPTH.name: _depth,
    ROLE_CONSISTENCY.name: _role,
    COHERENCE.name: _coherence,
}


def _item(result: MetricResult, row: LedgerRow, kind: ReviewKind) -> ReviewItem:
    numerator, denominator = result.numerator - row.numerator, result.denominator - row.denominator
    weight = row.denominator or 1.0
    sums = (
        (result.numerator, result.denominator),
        (numerator + weight, denominator + weight),
        (numerator, denominator + weight),
        (numerator, denominator),
    )
    scores = [percent(right, total) if total > 0 else None for right, total in sums]
    return ReviewItem(result.name, row.id, row.verdict, kind, *scores)


def percent(numerator: float, denominator: float) -> float:
    """A score from its two numbers.

    It is 100 without any weight, as memory accuracy has it: then the first decision can only cost points.
    """
    return 100.0 * numerator / denominator if denominator > 0 else 100.0
