"""Compute how other thresholds would change the number of games that pass, and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.shared.formatting import look, score_text, threshold_text
from evaluation.iterations.board import games_by_iteration
from evaluation.iterations.tests import Game, game_failures, judge_games, known_mean, mean_scores
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import COST_LIMIT_USD, MetricScore, VerdictStatus, apply_thresholds, judge_scores
from evaluation.score import Status, status_by
from evaluation.store import Store
from evaluation.store.transcripts import simulated
from evaluation.text.display import counted

Thresholds = tuple[tuple[str, float], ...]
"""By metric; a tuple, so that it can be part of a cache's key."""


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """One metric under two thresholds: how many of the games that have a score pass."""

    metric: str
    now: float
    then: float
    scored: int
    passing_now: int
    passing_then: int


@dataclass(frozen=True, slots=True)
class VerdictEffects:
    """Changes of verdicts.

    Attributes:
        games: Verdicts on single games by status: how many now, how many then.
        iterations: One row per iteration: its name, and its verdict now and then; ``None`` without games.
    """

    games: Mapping[VerdictStatus, tuple[int, int]]
    iterations: tuple[tuple[str, VerdictStatus | None, VerdictStatus | None], ...]


def metric_effects(store: Store, then: Thresholds) -> tuple[ThresholdEffect, ...]:
    """Number of games that pass each metric now, and with the thresholds ``then``; nothing is stored."""
    with store.unit():
        found = _counted(store.transcripts.summaries(), store.results.metric_scores()).values()
        now = store.settings.thresholds()
    changed = now | dict(then)
    held = {name: [of[name] for of in found if name in of and of[name].score is not None] for name in DEFINITIONS}

    def passing(name: str, threshold: float) -> int:
        return sum(status_by(one, threshold) is Status.PASSED for one in held[name])

    return tuple(
        ThresholdEffect(
            name, now[name], changed[name], len(held[name]), passing(name, now[name]), passing(name, changed[name])
        )
        for name in DEFINITIONS
    )


def _counted(
    summaries: pd.DataFrame, metrics: Mapping[str, Mapping[str, MetricScore]]
) -> dict[str, Mapping[str, MetricScore]]:
    """The scores of the games that count."""
    return {key: metrics[key] for key in summaries.loc[~simulated(summaries), "transcript_id"] if key in metrics}


def verdict_effects(store: Store, then: Thresholds) -> VerdictEffects:
    """The verdicts on games and iterations now and with the thresholds ``then``; nothing is stored."""
    with store.unit():
        summaries = store.transcripts.summaries()
        metrics = _counted(summaries, store.results.metric_scores())
        now = store.settings.thresholds()
        names = [one.name for one in store.iterations.list()]
    changed = now | dict(then)
    games = games_by_iteration(summaries, metrics)
    costs = dict(zip(summaries["transcript_id"], summaries["total_usd"], strict=True))
    return VerdictEffects(
        _verdicts(metrics, costs, now, changed),
        tuple((name, _verdict_on(games.get(name), now), _verdict_on(games.get(name), changed)) for name in names),
    )


def _verdict_on(games: Sequence[Game] | None, thresholds: Mapping[str, float]) -> VerdictStatus | None:
    if not games:
        return None
    cost = known_mean(games, lambda game: game.total_usd)
    return judge_games(mean_scores(games, thresholds), cost.mean, game_failures(games, thresholds)).status


def _verdicts(
    held: Mapping[str, Mapping[str, MetricScore]],
    costs: Mapping[str, float],
    now: Mapping[str, float],
    then: Mapping[str, float],
) -> dict[VerdictStatus, tuple[int, int]]:
    counts = {status: [0, 0] for status in VerdictStatus}
    # The statuses and whether the cost is too high decide, and few combinations of them occur.
    judged: dict[tuple[object, ...], VerdictStatus] = {}
    for transcript_id, metrics in held.items():
        usd = costs.get(transcript_id)
        known = None if usd is None or pd.isna(usd) else float(usd)
        for place, thresholds in enumerate((now, then)):
            statuses = tuple((name, status_by(metric, thresholds[name])) for name, metric in metrics.items())
            key = (*statuses, known is not None and known > COST_LIMIT_USD)
            if key not in judged:
                judged[key] = judge_scores(apply_thresholds(metrics, thresholds), known).status
            counts[judged[key]][place] += 1
    return {status: (before, after) for status, (before, after) in counts.items()}


def metric_rows(found: Sequence[ThresholdEffect]) -> list[dict[str, str]]:
    """One row per metric, words only: threshold and passing games, now and then."""
    return [_metric_row(effect) for effect in found]


def _metric_row(effect: ThresholdEffect) -> dict[str, str]:
    definition = DEFINITIONS[effect.metric]
    change = effect.passing_then - effect.passing_now
    return {
        "Metric": definition.label,
        "Threshold now": threshold_text(effect.now, definition.scale),
        "Then": threshold_text(effect.then, definition.scale) if effect.then != effect.now else "the same",
        "Pass now": f"{effect.passing_now} of {counted(effect.scored, 'scored game')}",
        "Would pass": f"{effect.passing_then} of {effect.scored}",
        # In words: a cell that begins with a sign would be taken for a formula.
        "Change": f"{abs(change)} {'more' if change > 0 else 'fewer'}" if change else "none",
    }


def verdict_rows(found: VerdictEffects) -> list[dict[str, object]]:
    """One row per verdict on single games: how many get it now and then."""
    return [
        {"Verdict on a game": look(status).label, "Games now": before, "Then": after, "Change": after - before}
        for status, (before, after) in found.games.items()
    ]


def iteration_rows(found: VerdictEffects) -> list[dict[str, object]]:
    """One row per iteration: its verdict now and then."""
    return [
        {"Iteration": name, "Verdict now": _words(before), "Then": _words(after)}
        for name, before, after in found.iterations
    ]


def _words(status: VerdictStatus | None) -> str:
    return "no games" if status is None else look(status).label


def scale_words(metric: str) -> str:
    """The range of a metric's threshold, with the rubric's own: "0 to 100 %; the rubric's is 80 %"."""
    definition = DEFINITIONS[metric]
    scale = definition.scale
    return f"From {scale.low:g} to {scale.high:g}; the rubric's is {score_text(definition.threshold, scale)}."
