"""Group the ledger rows that lose points by their reason, over the games of an iteration and of its reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.comparison.movers import Example, examples_of, reason_patterns
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class FailureReason:
    """One reason why rows of a metric lose points.

    Attributes:
        label: The reason with names, quotations and differing numbers left out: untrusted text.
        count: How many rows of the iteration lose points by it.
        share: The same over all judged rows of the metric, 0 to 1.
        count_before: How many rows of the reference lost points by it.
        share_before: The same over all judged rows there; ``None`` without a reference or without judged rows.
        examples: Three rows of the iteration at most, from several games where there are several.
    """

    metric: str
    label: str
    count: int
    share: float
    count_before: int
    share_before: float | None
    examples: tuple[Example, ...]

    @property
    def change(self) -> float | None:
        """The change of the share since the reference, in points: above zero the reason became more frequent."""
        return None if self.share_before is None else 100.0 * (self.share - self.share_before)


@dataclass(frozen=True, slots=True)
class MetricFailures:
    """The reasons why rows of one metric lose points, the most frequent first.

    Attributes:
        judged: How many rows of the iteration have weight.
        failing: How many of them lose points.
        judged_before: How many rows of the reference have weight; 0 without one.
    """

    metric: str
    judged: int
    failing: int
    judged_before: int
    reasons: tuple[FailureReason, ...]


@dataclass(frozen=True, slots=True)
class IterationFailures:
    """Why messages of an iteration fail.

    Attributes:
        iteration: Its name.
        reference: The name of the iteration that the trend is against; ``None`` without one.
        games: How many games the iteration has.
        metrics: Those with failing rows, in the rubric's order.
    """

    iteration: str
    reference: str | None
    games: int
    metrics: tuple[MetricFailures, ...]


def failure_reasons(rows: pd.DataFrame, *, has_reference: bool) -> tuple[MetricFailures, ...]:
    """The reasons of every percent metric of which rows lose points. The order of the rows changes only the examples.

    Args:
        rows: One per ledger row: ``is_after`` (bool, false for the reference's), ``transcript_id``, ``game_id``,
            ``metric``, ``player``, ``message_id`` (both may be empty), ``numerator``, ``denominator``, ``reason``.
        has_reference: Whether there is a reference.
    """
    judged = rows[rows["denominator"] > 0]
    names = player_names(rows)
    counts = judged.groupby(["metric", "is_after"]).size().to_dict()
    found = []
    for metric, definition in DEFINITIONS.items():
        own = with_patterns(judged[judged["metric"] == metric], names)
        after = int(counts.get((metric, True), 0))
        before = int(counts.get((metric, False), 0)) if has_reference else 0
        failing = int(own["is_after"].sum())
        if definition.scale == PERCENT and failing:
            reasons = sorted(_reasons(own, metric, after, before), key=lambda one: (-one.count, one.label))
            found.append(MetricFailures(metric, after, failing, before, tuple(reasons)))
    return tuple(found)


def player_names(rows: pd.DataFrame) -> list[str]:
    """The players of all rows: reasons of one metric also name players whom only another metric has rows of."""
    return sorted(map(str, rows["player"].dropna().unique()))


def with_patterns(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows that lose points, with what each loses (``lost``) and its reason without names (``pattern``)."""
    losing = rows[rows["numerator"] < rows["denominator"]].copy()
    losing["lost"] = losing["denominator"] - losing["numerator"]
    losing["pattern"] = reason_patterns(losing["reason"], names)
    return losing


def _reasons(losing: pd.DataFrame, metric: str, after: int, before: int) -> Iterator[FailureReason]:
    for label, group in losing.groupby("pattern", sort=True):
        here = group[group["is_after"]]
        if len(here):
            count_before = len(group) - len(here)
            share_before = count_before / before if before else None
            examples = tuple(examples_of(here))
            yield FailureReason(metric, str(label), len(here), len(here) / after, count_before, share_before, examples)
