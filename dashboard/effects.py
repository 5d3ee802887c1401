"""What other thresholds would change: how many games pass a metric, and the verdicts, now and then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dashboard.formatting import counted, look, score_text, threshold_text
from evaluation.iterations.board import make_board
from evaluation.iterations.frames import games_by_iteration, metrics_by_transcript
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import MetricScore, VerdictStatus, judge_scores, rejudge
from evaluation.score import Status
from evaluation.store import Store

Thresholds = tuple[tuple[str, float], ...]
"""By metric; a tuple, so that it can be part of a cache's key."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One metric under two thresholds: how many of the games that have a score pass."""

    metric: str
    now: float
    then: float
    scored: int
    passing_now: int
    passing_then: int


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything that other thresholds would change.

    Attributes:
        games: Verdicts on single games by status, now and then.
        iterations: One row per iteration: its name, and its verdict now and then; ``None`` without games.
    """

    metrics: tuple[Effect, ...]
    games: Mapping[VerdictStatus, tuple[int, int]]
    iterations: tuple[tuple[str, VerdictStatus | None, VerdictStatus | None], ...]


def effects(store: Store, then: Thresholds) -> Effects:
    """What the thresholds ``then`` would change, computed from the stored scores; nothing is stored."""
    with store.unit():
        summaries = store.transcripts.summaries()
        scores = store.results.scores()
        now = store.settings.thresholds()
        iterations, size = store.iterations.list(), store.settings.test_size()
    changed = now | dict(then)
    held = metrics_by_transcript(scores)
    costs = dict(zip(summaries["transcript_id"], summaries["total_usd"], strict=True))
    games = games_by_iteration(summaries, scores)
    boards = [make_board(iterations, games, thresholds, size) for thresholds in (now, changed)]
    return Effects(
        tuple(_effect(name, held, now[name], changed[name]) for name in DEFINITIONS),
        _verdicts(held, costs, now, changed),
        tuple(
            (a.iteration.name, a.verdict.status if a.verdict else None, b.verdict.status if b.verdict else None)
            for a, b in zip(boards[0].iterations, boards[1].iterations, strict=True)
        ),
    )


def _effect(metric: str, held: Mapping[str, Mapping[str, MetricScore]], now: float, then: float) -> Effect:
    outcomes = [metrics[metric] for metrics in held.values() if metric in metrics]
    scored = [outcome for outcome in outcomes if outcome.score is not None]
    passing = [
        sum(rejudge({metric: outcome}, {metric: threshold})[metric].status is Status.PASSED for outcome in scored)
        for threshold in (now, then)
    ]
    return Effect(metric, now, then, len(scored), passing[0], passing[1])


def _verdicts(
    held: Mapping[str, Mapping[str, MetricScore]],
    costs: Mapping[str, float],
    now: Mapping[str, float],
    then: Mapping[str, float],
) -> dict[VerdictStatus, tuple[int, int]]:
    counts = {status: [0, 0] for status in VerdictStatus}
    for transcript_id, metrics in held.items():
        usd = costs.get(transcript_id)
        known = None if usd is None or pd.isna(usd) else float(usd)
        for place, thresholds in enumerate((now, then)):
            counts[judge_scores(rejudge(metrics, thresholds), known).status][place] += 1
    return {status: (before, after) for status, (before, after) in counts.items()}


def metric_rows(found: Effects) -> pd.DataFrame:
    """One row per metric, words only: threshold and passing games, now and then."""
    return pd.DataFrame([_metric_row(effect) for effect in found.metrics])


def _metric_row(effect: Effect) -> dict[str, str]:
    definition = DEFINITIONS[effect.metric]
    change = effect.passing_then - effect.passing_now
    return {
        "Metric": definition.label,
        "Threshold now": threshold_text(effect.now, definition.scale),
        "Then": threshold_text(effect.then, definition.scale) if effect.then != effect.now else "the same",
        "Pass now": f"{effect.passing_now} of {counted(effect.scored, 'scored game')}",
        "Would pass": f"{effect.passing_then} of {effect.scored}",
        "Change": f"{change:+d}" if change else "none",
    }


def verdict_rows(found: Effects) -> pd.DataFrame:
    """One row per verdict on single games: how many get it now and then."""
    rows = [
        {"Verdict on a game": look(status).label, "Games now": before, "Then": after, "Change": after - before}
        for status, (before, after) in found.games.items()
    ]
    return pd.DataFrame(rows)


def iteration_rows(found: Effects) -> pd.DataFrame:
    """One row per iteration: its verdict now and then."""
    rows = [
        {"Iteration": name, "Verdict now": _words(before), "Then": _words(after)}
        for name, before, after in found.iterations
    ]
    return pd.DataFrame(rows, columns=["Iteration", "Verdict now", "Then"])


def _words(status: VerdictStatus | None) -> str:
    return "no games" if status is None else look(status).label


def scale_words(metric: str) -> str:
    """What a threshold of the metric may be, and what the rubric says: "0 to 100 %; the rubric's is 80 %"."""
    definition = DEFINITIONS[metric]
    scale = definition.scale
    return f"From {scale.low:g} to {scale.high:g}; the rubric's is {score_text(definition.threshold, scale)}."
