"""The rule and the judges on ledger rows that people decided themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.agreement.disagreements import Overruled
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.intervals import Interval, proportion_interval


@dataclass(frozen=True, slots=True)
class RowAgreement:
    """One metric on the rows that people decided.

    People choose which rows to look at, and look at those that seem wrong: the shares say how often each was right
    where somebody doubted, not how often it is right.

    Attributes:
        rows: That people decided.
        rule_same: On how many of them the rule had said the same.
        rule_interval: Wilson's, of that share, over rows.
        judged: How many of them a judge had decided.
        judge_same: On how many of those the judge had said the same.
        judge_interval: Wilson's, of that share.
    """

    metric: str
    rows: int
    rule_same: int
    rule_interval: Interval
    judged: int
    judge_same: int
    judge_interval: Interval


def row_agreements(overruled: Sequence[Overruled]) -> tuple[RowAgreement, ...]:
    """Every metric with a row that a person decided, in the rubric's order."""
    found = []
    for metric in DEFINITIONS:
        rows = [one for one in overruled if one.metric == metric]
        judged = [one for one in rows if one.judge_verdict is not None]
        rule_same = sum(one.rule_verdict == one.verdict for one in rows)
        judge_same = sum(one.judge_verdict == one.verdict for one in judged)
        if rows:
            intervals = proportion_interval(rule_same, len(rows)), proportion_interval(judge_same, len(judged))
            found.append(
                RowAgreement(metric, len(rows), rule_same, intervals[0], len(judged), judge_same, intervals[1])
            )
    return tuple(found)
