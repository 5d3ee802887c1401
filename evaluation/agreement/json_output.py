"""The agreement report as JSON-compatible data. Numbers that are not defined are null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.agreement._metrics_against_raters import ReferenceAgreement
from evaluation.agreement.between_raters import GameDisagreement, ItemAgreement, PairAgreement, RaterLeaning
from evaluation.agreement.report import AgreementReport
from evaluation.agreement.rows import DecidedRow, RowAgreement
from evaluation.score import Method
from evaluation.text.display import number_or_none


def agreement_data(report: AgreementReport) -> dict[str, Any]:
    """The report, disagreements first."""
    return {
        "raters": report.raters,
        "games": report.games,
        "shared_games": report.shared_games,
        "ratings": report.ratings,
        "note": report.note,
        "disagreements": {
            "between_raters": [_split(one) for one in report.split],
            "rules_against_raters": [asdict(one) | {"gap": one.gap} for one in report.gaps],
            "overruled": [_overridden(one) for one in report.overruled],
            "rows": [_disputed(one) for one in report.disputed],
        },
        "items": [_item(one) for one in report.items],
        "pairs": [_pair(one) for one in report.pairs],
        "leanings": [_leaning(one) for one in report.leanings],
        "references": [_reference(one) for one in report.references],
        "rows": [_row(one) for one in report.rows],
    }


def _split(one: GameDisagreement) -> dict[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "game": one.game,
        "spread": one.spread,
        "scores": [{"rater": rater, "score": score} for rater, score in one.scores],
        "split_questions": list(one.split_questions),
    }


def _overridden(one: DecidedRow) -> dict[str, Any]:
    return {
        **_place(one),
        "verdict": str(one.verdicts[Method.HUMAN]),
        "author": one.author,
        "reason": one.reasons[Method.HUMAN],
    }


def _place(one: DecidedRow) -> dict[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "game": one.game,
        "metric": one.metric,
        "row_id": one.row.id,
        "message_id": one.row.message_id,
    }


def _row(one: RowAgreement) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "first": str(one.first),
        "second": str(one.second),
        "rows": one.rows,
        "games": one.games,
        "same": one.same,
        "share": one.share.as_dict(),
        "kappa": one.kappa.as_dict(),
        "floor": one.floor,
    }


def _disputed(one: DecidedRow) -> dict[str, Any]:
    return {
        **_place(one),
        "player": one.row.player,
        "verdicts": {str(method): str(verdict) for method, verdict in one.verdicts.items()},
        "reasons": {str(method): reason for method, reason in one.reasons.items()},
        "author": one.author or None,
        "points": one.stake,
    }


def _item(one: ItemAgreement) -> dict[str, Any]:
    return {
        "item": one.item.name,
        "label": one.item.label,
        "level": one.item.level,
        "games": one.games,
        "raters": one.raters,
        "ratings": one.ratings,
        "alpha": one.alpha.as_dict(),
        "ac1": one.ac1 and one.ac1.as_dict(),
        "exact": one.exact.as_dict(),
        "commonest": number_or_none(one.commonest),
        "floor": number_or_none(one.floor),
        "reading": one.reading,
    }


def _pair(one: PairAgreement) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "games": one.games,
        "weighted_kappa": number_or_none(one.kappa),
        "spearman": number_or_none(one.spearman),
        "bias": number_or_none(one.bias),
        "exact": one.exact,
    }


def _leaning(one: RaterLeaning) -> dict[str, Any]:
    return {
        "rater": one.rater,
        "rated": one.rated,
        "games": one.games,
        "bias": number_or_none(one.bias),
        "interval": one.interval.as_dict(),
        "spearman": number_or_none(one.spearman),
    }


def _reference(one: ReferenceAgreement) -> dict[str, Any]:
    return {
        "metric": one.reference,
        "label": one.label,
        "item": one.item.name,
        "games": one.games,
        "ratings": one.ratings,
        "weighted_kappa": one.kappa.as_dict(),
        "spearman": one.spearman.as_dict(),
        "bias": one.bias.as_dict(),
        "exact": one.exact.as_dict(),
        "ceiling": {
            "games": one.ceiling_games,
            "weighted_kappa": number_or_none(one.ceiling_kappa),
            "spearman": number_or_none(one.ceiling_spearman),
            "exact": number_or_none(one.ceiling_exact),
        },
        "floor": {"weighted_kappa": 0.0, "exact": number_or_none(one.floor_exact)},
    }
