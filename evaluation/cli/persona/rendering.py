"""Evaluations of agents as tables, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.cli.shared.terminal import code, markdown_table, shortened, table
from evaluation.judging.propositions import Dimension
from evaluation.persona.evaluation import DIMENSIONS, LABELS
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.harness.regression import BaselineComparison
    from evaluation.judging.questions import PropositionScore
    from evaluation.persona.evaluation import DimensionScore, PersonaEvaluation
    from evaluation.workflows.persona_runs import Rated

_LONGEST_NAME = 30
_LONGEST_REASON = 160
_LONGEST_REMARK = 300
_COMPARISON_HEADERS = ("Agent", "Dimension", "Baseline", "Now", "Change", "Outcome")


def evaluation_table(evaluations: Sequence[Rated], comparison: BaselineComparison | None = None) -> str:
    """Scores 0 to 9 (ideas: a count), one line per agent or channel, and below what has no score and why.

    Args:
        evaluations: In the order of the lines.
        comparison: With baselines; what is not fine is said below, too.
    """
    rows = [(shortened(each.agent.display_name, _LONGEST_NAME), *_cells(each)) for _, each in evaluations]
    remarks = [*_remarks(evaluations), *_baseline_remarks(comparison)]
    return "\n".join([table(_headers(), rows), *(f"  {line}" for line in remarks)])


def evaluation_markdown(evaluations: Sequence[Rated], comparison: BaselineComparison | None = None) -> str:
    """The same as a Markdown table."""
    rows = [(code(shortened(each.agent.display_name, _LONGEST_NAME)), *_cells(each)) for _, each in evaluations]
    lines = [*_remarks(evaluations), *_baseline_remarks(comparison)]
    remarks = [f"- {code(line)}" for line in lines]
    return "\n".join([markdown_table(_headers(), rows), *(["", *remarks] if remarks else [])])


def _headers() -> tuple[str, ...]:
    return ("Agent", *LABELS.values(), "Overall", "Sample", "Judge")


def _cells(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    overall = "n/a" if evaluation.overall_score is None else f"{evaluation.overall_score:.2f}"
    judges = ", ".join(dict.fromkeys(str(kind) for kind, _ in evaluation.judges)) or "none"
    scores = [_cell(evaluation.dimensions.get(each)) for each in DIMENSIONS]
    return (*scores, overall, str(evaluation.sample_size), judges)


def _cell(score: DimensionScore | None) -> str:
    """A score; with the one without marked nines where these change it; empty where the dimension does not apply."""
    if score is None:
        return ""
    if score.score is None:
        return "n/a"
    digits = 1 if score.dimension is Dimension.IDEAS_QUANTITY else 2
    shown = f"{score.score:.{digits}f}"
    without = "" if score.score_without_marked is None else f"{score.score_without_marked:.{digits}f}"
    return shown if without in ("", shown) else f"{shown} ({without} without 9s)"


def _remarks(evaluations: Sequence[Rated]) -> Iterator[str]:
    for _, evaluation in evaluations:
        for score in evaluation.dimensions.values():
            name = f"{evaluation.agent.display_name}, {score.dimension}"
            if score.score is None:
                yield shortened(f"{name}: not scored: {score.reason}", _LONGEST_REASON)
            elif score.unscored:
                why = score.unscored[0].detail
                yield shortened(
                    f"{name}: {len(score.unscored)} of {len(score.items)} not scored: {why}", _LONGEST_REASON
                )
            if score.marked and score.score is not None:
                yield shortened(
                    f"{name}: {score.marked} of {len(score.items)} are 9s for missing data or a precondition that does "
                    "not hold",
                    _LONGEST_REASON,
                )


def _baseline_remarks(comparison: BaselineComparison | None) -> Iterator[str]:
    """Differences from the baselines; one line for all agents without one or with another judge's."""
    if comparison is None:
        return
    from evaluation.harness.regression import FAILURES, RegressionOutcome, row_words

    for row in comparison.having(FAILURES):
        yield shortened(f"{row.outcome}: {row_words(row, comparison.max_drop)}", _LONGEST_REMARK)
    for outcome, words in (
        (RegressionOutcome.NEW, "without a baseline"),
        (RegressionOutcome.INCOMPARABLE, "that cannot be compared with a baseline"),
    ):
        if rows := comparison.having({outcome}):
            first = f"{rows[0].agent_name}, {rows[0].dimension}: {rows[0].detail}"
            yield shortened(f"{counted(len(rows), 'score')} {words}, the first: {first}", _LONGEST_REMARK)
    if not comparison.having(FAILURES) and (fine := comparison.having({RegressionOutcome.FINE})):
        held = f"{counted(len(fine), 'score')} held against baselines"
        yield f"{held}: none fell by more than {comparison.max_drop:g}"
    yield shortened(comparison.rule, _LONGEST_REMARK)


def comparison_table(comparison: BaselineComparison) -> str:
    """Every score beside its baseline, and below what fell, what is gone and what is new."""
    from evaluation.harness.regression import behind_words

    rows = [
        (
            shortened(row.agent_name, _LONGEST_NAME),
            LABELS[row.dimension],
            _figure(row.baseline) or "none",
            _figure(row.score) or "n/a",
            "" if row.change is None else f"{row.change:+.2f}",
            str(row.outcome).replace("_", " "),
        )
        for row in comparison.rows
    ]
    lines = [table(_COMPARISON_HEADERS, rows)]
    for row in comparison.rows:
        who = f"{row.agent_name}, {LABELS[row.dimension]}"
        if row.detail and row.outcome != "new":
            lines.append(shortened(f"  {who}: {row.detail}", _LONGEST_REMARK))
        lines += [
            shortened(f"  {who}: {one.name} fell: {one.baseline:.2f} -> {one.score:.2f}", _LONGEST_REMARK)
            for one in row.fallen
        ]
        for words, ids in (
            ("new", row.new_propositions),
            ("gone", row.gone_propositions),
            ("changed, not compared,", row.changed_propositions),
        ):
            if ids:
                lines.append(shortened(f"  {who}: {words} propositions: {', '.join(ids)}", _LONGEST_REMARK))
        for each in row.behind:
            lines += [f"  {shortened(line, _LONGEST_REMARK)}" for line in behind_words(each).splitlines()]
    lines.append(f"  {comparison.rule}")
    return "\n".join(lines)


def _figure(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def evaluation_dict(run_id: str | None, evaluation: PersonaEvaluation) -> dict[str, Any]:
    """An evaluation with everything behind it, as the JSON output shows it; without a run's id where none is told."""
    period, used = evaluation.period, evaluation.usage
    return {
        "run_id": run_id,
        "agent": {
            "id": evaluation.agent.id,
            "name": evaluation.agent.display_name,
            "kind": str(evaluation.agent.kind),
        },
        "overall_score": evaluation.overall_score,
        "dimensions": {str(key): _dimension_dict(each) for key, each in evaluation.dimensions.items()},
        "window_start": period.since.isoformat() if period.since else None,
        "window_end": period.until.isoformat() if period.until else None,
        "sample_size": evaluation.sample_size,
        "seed": evaluation.seed,
        "judges": [{"kind": str(kind), "model": model} for kind, model in evaluation.judges],
        "token_usage": {
            "input_tokens": round(used.input_tokens),
            "output_tokens": round(used.output_tokens),
            "cached_tokens": round(used.cached_tokens),
            "cost_usd": used.known_usd,
        },
    }


def _dimension_dict(score: DimensionScore) -> dict[str, Any]:
    return {
        "score": score.score,
        "score_without_marked": score.score_without_marked,
        "marked": score.marked,
        "unscored": len(score.unscored),
        "reason": score.reason,
        "items": [_item_dict(item) for item in score.items],
    }


def _item_dict(item: PropositionScore) -> dict[str, Any]:
    return {
        "proposition_id": item.proposition.id,
        "claim": item.claim,
        "weight": item.proposition.weight,
        "inverted": item.proposition.is_inverted,
        "status": str(item.status),
        "raw": item.raw,
        "score": item.score,
        "mark": str(item.mark),
        "mark_words": item.mark_words,
        "message": item.reference or None,
        "reason": item.reason or item.detail,
        "snippet": item.snippet,
        "citations": list(item.citations),
        "ideas": [{"text": idea.text, "citations": list(idea.citations)} for idea in item.ideas],
        "recommendation": item.proposition.recommendations_for_improvement,
    }
