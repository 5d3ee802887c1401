"""Evaluations of agents as column values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evaluation.escaping import well_formed
from evaluation.judging.targets import message_reference
from evaluation.store.engine.bulk_rows import packed
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.judging.propositions.weighted_scores import PropositionScore
    from evaluation.persona.results import DimensionScore, PersonaEvaluation

_NO_REASON = "(no reason given)"


def run_values(evaluation: PersonaEvaluation) -> dict[str, Any]:
    """Values that are known of a run when it ends."""
    judge, model = evaluation.judges[0] if evaluation.judges else ("", "")
    used = evaluation.usage
    usage = {
        "input_tokens": round(used.input_tokens),
        "output_tokens": round(used.output_tokens),
        "cached_tokens": round(used.cached_tokens),
        "cost_usd": None if used.known_usd is None else round(used.known_usd, 6),
        "calls": round(used.calls),
    }
    reasons = [f"{each.dimension}: {each.reason}" for each in evaluation.dimensions.values() if each.reason]
    return {
        "status": "failed" if evaluation.has_failed else "completed",
        "overall": evaluation.overall_score,
        "size": evaluation.sample_size,
        "usage": _json(usage),
        "scores": _json({str(key): _summary(each) for key, each in evaluation.dimensions.items()}),
        "judge": str(judge) or None,
        "model": model or None,
        "error": well_formed("; ".join(reasons)) if evaluation.has_failed else None,
    }


def _summary(score: DimensionScore) -> dict[str, Any]:
    return {
        "score": score.score,
        "score_without_marked": score.score_without_marked,
        "marked": score.marked,
        "items": len(score.items),
        "unscored": len(score.unscored),
        "reason": well_formed(score.reason),
    }


def score_rows(run_id: str, evaluation: PersonaEvaluation) -> list[dict[str, Any]]:
    """One row of ``evaluation_scores`` for everything that has a score."""
    scored = [
        (str(d), item) for d, each in evaluation.dimensions.items() for item in each.items if item.score is not None
    ]
    return [
        {"evaluation_run_id": run_id, "position": position, "dimension": dimension, **_score_values(item)}
        for position, (dimension, item) in enumerate(scored)
    ]


def _score_values(item: PropositionScore) -> dict[str, Any]:
    transcript_id, message_id = message_reference(item.reference)
    judgement = item.judgement
    return {
        "proposition_id": item.proposition.id,
        "score": item.score,
        "reasoning": well_formed(item.reason).strip() or _NO_REASON,
        "context_snippet": well_formed(item.snippet) or None,
        "claim": well_formed(item.claim),
        "weight": item.proposition.weight,
        "is_inverted": item.proposition.is_inverted,
        "raw_score": item.raw,
        "mark": str(item.mark),
        "transcript_id": transcript_id or None,
        "message_id": message_id or None,
        "citations": _json(list(item.citations)),
        "ideas": _json([{"text": well_formed(idea.text), "citations": list(idea.citations)} for idea in item.ideas]),
        "confidence": judgement.confidence if judgement else None,
        "judge": str(judgement.judge) if judgement else None,
        "model": judgement.judged_by if judgement else None,
        "judgement_key": judgement.key if judgement else None,
    }


def failure_rows(run_id: str, evaluation: PersonaEvaluation) -> list[dict[str, Any]]:
    """One row of ``score_failures`` per dimension, proposition and reason, with how often it occurred.

    ``transcript_id`` stays empty: what failed here is no metric of a transcript.
    """
    occurrences: Counter[tuple[str, str, str, str]] = Counter()
    for dimension, each in evaluation.dimensions.items():
        for item in each.unscored:
            occurrences[str(dimension), item.proposition.id, str(item.status), item.detail] += 1
    return [
        {
            "evaluation_run_id": run_id,
            "scorer": dimension,
            "subject": well_formed(f"{evaluation.agent.display_name}, {counted(times, 'time')}"),
            "reason": well_formed(detail) or "no reason given",
            "proposition_id": proposition_id,
            "status": status,
        }
        for (dimension, proposition_id, status, detail), times in occurrences.items()
    ]


def _json(value: Any) -> str:
    return packed(value).decode("utf-8")
