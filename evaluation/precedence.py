"""Decide who has the last word on a row of a ledger: a person, else proof, a judge, the reader, the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluation.overrides import Override
from evaluation.rubric.definitions import score_words
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import JUDGES, OVERRULED, LedgerRow, Method, MetricResult, redecided, replace_rows
from evaluation.text.display import counted


def results_as_they_stand(
    computed: Mapping[str, MetricResult], decisions: Sequence[RowDecision], overrides: Sequence[Override]
) -> dict[str, MetricResult]:
    """The results with every row as the one who outranks the others decided it, and every score computed again.

    Row by row, a person outranks what is proven (``is_proven``), that outranks a judge, and a judge outranks reader and
    rule; ``Method`` lists all in this order. A person's
    override applies to the row as the judge left it, so that the row keeps what both said. Rows that judges and people
    added stand after the others.

    Args:
        computed: By metric, as rule and reader computed them.
        decisions: Of judges, those that stand: at most one per row.
        overrides: Of people, those that stand: at most one per row.

    Returns:
        By metric, in the same order. Decisions and overrides on rows that no ledger has change nothing.
    """
    judged = {name: _judged(result, decisions) for name, result in computed.items()}
    judged = {name: _with_added_rows(result, overrides) for name, result in judged.items()}
    rows = {(name, row.id): row for name, result in judged.items() for row in result.ledger}
    overruled: dict[str, dict[str, LedgerRow]] = {}
    for override in overrides:
        if row := rows.get((override.metric, override.row_id)):
            overruled.setdefault(override.metric, {})[row.id] = override.applied_to(row)
    return {name: replace_rows(result, overruled.get(name, {})) for name, result in judged.items()}


def _judged(result: MetricResult, decisions: Sequence[RowDecision]) -> MetricResult:
    own = {one.row_id: one for one in decisions if one.metric == result.name}
    if not own:
        return result
    known = {row.id for row in result.ledger}
    added = [one.added for one in own.values() if one.added is not None and one.row_id not in known]
    result = replace(result, ledger=(*result.ledger, *added))
    rows = {row.id: own[row.id].applied_to(row) for row in result.ledger if row.id in own}
    judged = [row for row in rows.values() if row.method is Method.JUDGE]
    found = replace_rows(result, rows)
    if words := overruled_words(found, own):
        found = replace(found, details={**found.details, OVERRULED: words})
    if not judged:
        return found
    judges = list(dict.fromkeys(own[row.id].model for row in judged))
    # What the rule remarked counts its own rows, not those that stand now.
    rule = [f"by the rule: {note}" for note in result.notes]
    told = ", ".join(f"judge:{model}" for model in judges)
    notes = (f"{counted(len(judged), 'row')} decided by {told}", *rule)
    return replace(found, notes=notes, details={**found.details, JUDGES: judges})


def overruled_words(result: MetricResult, decisions: Mapping[str, RowDecision]) -> str:
    """The judge's verdicts that proof overrules, and the score without proof; empty where it overrules none.

    "2 of 21 verdicts of the model overruled by proof; 52.4 % by the model alone".

    Args:
        result: With the decisions applied.
        decisions: By row.
    """
    own = [(row, decisions[row.id]) for row in result.ledger if row.id in decisions]
    lost = {row.id: redecided(row, one.verdict) for row, one in own if one.verdict is not row.verdict}
    if not lost:
        return ""
    alone = replace_rows(result, lost).score
    score = "no score" if alone is None else score_words(result.definition, alone)
    return f"{len(lost)} of {counted(len(own), 'verdict')} of the model overruled by proof; {score} by the model alone"


def _with_added_rows(result: MetricResult, overrides: Sequence[Override]) -> MetricResult:
    added = [one for one in overrides if one.metric == result.name and one.added_words is not None]
    if not added:
        return result
    known = {row.id for row in result.ledger}
    return replace(result, ledger=(*result.ledger, *[one.added_row() for one in added if one.row_id not in known]))
