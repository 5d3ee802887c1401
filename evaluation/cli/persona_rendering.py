"""Evaluations of agents as tables, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.cli.terminal import code, markdown_table, shortened, table
from evaluation.judging.propositions import Dimension

if TYPE_CHECKING:
    from evaluation.judging.proposition_scores import PropositionScore
    from evaluation.persona.results import DimensionScore, PersonaEvaluation

_LONGEST_NAME = 30
_LONGEST_REASON = 160
_HEADERS = ("Agent", "Adherence", "Consistency", "Fluency", "Voice distinctness", "Ideas", "Overall", "Sample", "Judge")

Rated = tuple[str, "PersonaEvaluation"]
"""An evaluation with the id of its run."""


def evaluation_table(evaluations: Sequence[Rated]) -> str:
    """Scores 0 to 9 (ideas: a count), one line per agent or channel, and below what has no score and why."""
    rows = [(shortened(each.agent.display_name, _LONGEST_NAME), *_cells(each)) for _, each in evaluations]
    return "\n".join([table(_HEADERS, rows), *(f"  {line}" for line in _remarks(evaluations))])


def evaluation_markdown(evaluations: Sequence[Rated]) -> str:
    """The same as a Markdown table."""
    rows = [
        (code(shortened(each.agent.display_name, _LONGEST_NAME)), *map(_plain, _cells(each))) for _, each in evaluations
    ]
    remarks = [f"- {code(line)}" for line in _remarks(evaluations)]
    return "\n".join([markdown_table(_HEADERS, rows), *(["", *remarks] if remarks else [])])


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|")


def _cells(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    overall = "n/a" if evaluation.overall_score is None else f"{evaluation.overall_score:.2f}"
    judges = ", ".join(dict.fromkeys(str(kind) for kind, _ in evaluation.judges)) or "none"
    dimensions = (
        Dimension.ADHERENCE,
        Dimension.CONSISTENCY,
        Dimension.FLUENCY,
        Dimension.CONVERGENCE,
        Dimension.IDEAS_QUANTITY,
    )
    scores = [_cell(evaluation.dimensions.get(each)) for each in dimensions]
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


def evaluation_dict(run_id: str, evaluation: PersonaEvaluation) -> dict[str, Any]:
    """An evaluation with everything behind it, as the JSON output shows it."""
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
            "cost_usd": used.cost_usd,
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
        "message": item.reference or None,
        "reason": item.reason or item.detail,
        "snippet": item.snippet,
        "citations": list(item.citations),
        "ideas": [{"text": idea.text, "citations": list(idea.citations)} for idea in item.ideas],
        "recommendation": item.proposition.recommendations_for_improvement,
    }
