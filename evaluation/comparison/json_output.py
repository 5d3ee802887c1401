"""A comparison as JSON-compatible data. Numbers that are not defined are null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.comparison.iterations import IterationComparison
from evaluation.comparison.movers import Mover
from evaluation.comparison.runs import Run, RunComparison
from evaluation.iterations.keep_or_revert import IterationSide
from evaluation.rubric.control_words import ControlSummary
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.comparison import Difference, Paired, Summary
from evaluation.statistics.words import difference_sentences
from evaluation.text.display import number_or_none


def comparison_data(found: IterationComparison) -> dict[str, Any]:
    """Both sides, the decision on the later one, every metric's difference with its words, and its causes."""
    controls = found.controls
    return {
        "before": _side(found.before),
        "after": _side(found.after),
        "decision": found.decision and found.decision.as_dict(),
        "decision_is_about": found.other_pair,
        "decision_words": list(found.decision_words),
        "coverage": list(found.coverage_words),
        "level": found.comparison.level,
        "metrics": [
            difference_data(one) | {"control": _controls(*controls[one.name])} for one in found.comparison.differences
        ],
        "pairs": [{"before": one, "after": other} for one, other in found.pairs],
        "movers": [_mover(one) for one in found.movers],
    }


def _controls(before: ControlSummary, after: ControlSummary) -> dict[str, Any]:
    return {"before": before.as_dict(), "after": after.as_dict()}


def run_comparison_data(found: RunComparison) -> dict[str, Any]:
    """Both runs, every dimension's difference with its words, and the propositions that moved most.

    Args:
        found: The comparison.
    """
    return {
        "before": _run(found.before),
        "after": _run(found.after),
        "level": found.comparison.level,
        "dimensions": [difference_data(one) for one in found.comparison.differences],
        "movers": [asdict(one) | {"change": one.change} for one in found.movers],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "agent": run.agent,
        "judge": run.judge,
        "sample_size": run.sample_size,
        "created_at": run.created_at.isoformat(),
        "scores": {str(dimension): score for dimension, score in run.scores.items()},
    }


def difference_data(one: Difference) -> dict[str, Any]:
    """One metric's difference, after minus before, on its scale."""
    return {
        "metric": one.name,
        "label": DEFINITIONS[one.name].label if one.name in DEFINITIONS else one.name,
        "before": _summary(one.before),
        "after": _summary(one.after),
        "difference": number_or_none(one.difference),
        "interval": one.interval.as_dict(),
        "deciding_interval": one.deciding_interval.as_dict(),
        "is_primary": one.is_primary,
        "welch_t": number_or_none(one.welch.statistic),
        "welch_p": number_or_none(one.welch.p),
        "degrees_of_freedom": one.welch.freedom,
        "p_holm": number_or_none(one.p_holm),
        "cohens_d": number_or_none(one.effect.value),
        "no_test_because": one.welch.reason,
        "paired": _paired(one.paired) if one.paired else None,
        "minimum_detectable_difference": number_or_none(one.detectable),
        "games_needed_per_side": one.games_needed,
        "verdict": str(one.outcome),
        "words": difference_sentences(one),
    }


def _side(side: IterationSide) -> dict[str, Any]:
    return {"iteration": side.iteration.name, "games": [game.transcript_id for game in side.games]}


def _summary(side: Summary) -> dict[str, Any]:
    return {
        "n": side.n,
        "mean": number_or_none(side.mean),
        "sd": number_or_none(side.sd),
        "interval": side.interval.as_dict(),
        "values": list(side.values),
    }


def _paired(paired: Paired) -> dict[str, Any]:
    return {
        "pairs": paired.n,
        "difference": number_or_none(paired.difference),
        "interval": paired.interval.as_dict(),
        "sign_flip_p": number_or_none(paired.sign_flip.p),
        "is_exact": paired.is_exact,
        "smallest_possible_p": number_or_none(paired.smallest_p),
        "t_p": number_or_none(paired.t.p),
    }


def _mover(one: Mover) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "kind": one.kind,
        "label": one.label,
        "points_lost_before": one.before,
        "points_lost_after": one.after,
        "change": one.change,
        "rows_before": one.before_rows,
        "rows_after": one.after_rows,
        "examples": [asdict(example) for example in one.examples],
    }
