"""Decide who has the last word on a row of a ledger: a person, else a judge, else whatever computed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluation.overrides import Override
from evaluation.rubric_judge.judge_rows import apply_decisions
from evaluation.rubric_judge.row_decision import RowDecision
from evaluation.score import LedgerRow, MetricResult, replace_rows


def results_as_they_stand(
    computed: Mapping[str, MetricResult], decisions: Sequence[RowDecision], overrides: Sequence[Override]
) -> dict[str, MetricResult]:
    """The results with every row as the one who outranks the others decided it, and every score computed again.

    Row by row, a person outranks a judge, and a judge outranks the rule; ``Method`` lists all in this order. A person's
    override applies to the row as the judge left it, so that the row keeps what both said. Rows that people added stand
    after the others.

    Args:
        computed: By metric, as the rule computed them.
        decisions: Of judges, those that stand: at most one per row.
        overrides: Of people, those that stand: at most one per row.

    Returns:
        By metric, in the same order. Decisions and overrides on rows that no ledger has change nothing.
    """
    judged = apply_decisions(computed, decisions)
    judged = {name: _with_added_rows(result, overrides) for name, result in judged.items()}
    rows = {(name, row.id): row for name, result in judged.items() for row in result.ledger}
    overruled: dict[str, dict[str, LedgerRow]] = {}
    for override in overrides:
        if row := rows.get((override.metric, override.row_id)):
            overruled.setdefault(override.metric, {})[row.id] = override.applied_to(row)
    return {name: replace_rows(result, overruled.get(name, {})) for name, result in judged.items()}


def _with_added_rows(result: MetricResult, overrides: Sequence[Override]) -> MetricResult:
    added = [one for one in overrides if one.metric == result.name and one.added_words is not None]
    if not added:
        return result
    known = {row.id for row in result.ledger}
    return replace(result, ledger=(*result.ledger, *[one.added_row() for one in added if one.row_id not in known]))
