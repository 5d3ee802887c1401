"""The validity report: scores on planted faults in a corpus, for pages and commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import COMPANION_NAMES
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Status
from evaluation.statistics.agreement import spearman
from evaluation.statistics.intervals import mean_interval
from evaluation.text.display import number_or_none
from evaluation.transcript import Transcript
from evaluation.validity._faults import FAULTS, Noticed, pooled

TARGETS: Mapping[str, tuple[str, float]] = {
    "memory_accuracy": ("score", 0.90),
    "coherence": ("companion", 0.95),
    "role_consistency": ("companion", 0.70),
    "personality_diversity": ("companion", 0.90),
    "anti_repetition": ("score", 0.97),
}
"""For each metric the measure that should notice its fault, and how often (paired AUC)."""


def fault_table(found: Iterable[Noticed]) -> list[dict[str, Any]]:
    """One row per fault and measure: ``metric``, ``label``, ``fault``, ``measure``, ``auc``, ``low``, ``high``,
    ``games``, ``target`` (``None`` where none is set), ``sources`` (name -> ``auc`` and ``games``).

    Intervals are at 95 % over games.
    """
    table = pooled(found)
    rows = []
    for fault in FAULTS:
        for measure in ("score", "companion"):
            values = table.get((fault.metric, measure))
            if values is None:
                continue
            interval = mean_interval(values[""], limits=(0.0, 1.0))
            wanted = TARGETS[fault.metric]
            rows.append(
                {
                    "metric": fault.metric,
                    "label": DEFINITIONS[fault.metric].label,
                    "fault": fault.words,
                    "measure": measure if measure == "score" else COMPANION_NAMES[fault.metric],
                    "auc": float(np.mean(values[""])),
                    "low": number_or_none(interval.low),
                    "high": number_or_none(interval.high),
                    "games": len(values[""]),
                    "target": wanted[1] if wanted[0] == measure else None,
                    "sources": {
                        source: {"auc": float(np.mean(values[source])), "games": len(values[source])}
                        for source in sorted(filter(None, values))
                    },
                }
            )
    return rows


def length_correlations(games: Sequence[Transcript]) -> dict[str, tuple[float | None, int]]:
    """Spearman's correlation of every score with the logarithm of the public words, and the number of games."""
    lengths = [float(np.log(1 + sum(len(one.text.split()) for one in game.discussion))) for game in games]
    found: dict[str, tuple[float | None, int]] = {}
    for name, measure in SCORERS.items():
        scores = [measure(game).score for game in games]
        pairs = [(score, length) for score, length in zip(scores, lengths, strict=True) if score is not None]
        value = spearman(*zip(*pairs, strict=True)) if len(pairs) > 2 else None
        found[name] = (None if value is None else number_or_none(value), len(pairs))
    return found


def pass_rates(games: Sequence[Transcript]) -> dict[str, dict[str, tuple[int, int]]]:
    """For each metric: of how many human games, and of those of language models, that have a score, how many pass."""
    rates: dict[str, dict[str, tuple[int, int]]] = {}
    for name, measure in SCORERS.items():
        counts = {"human": [0, 0], "model": [0, 0]}
        for game in games:
            result = measure(game)
            if result.score is not None:
                group = counts["human" if is_human_game(game) else "model"]
                group[0] += result.status is Status.PASSED
                group[1] += 1
        rates[name] = {group: (passed, total) for group, (passed, total) in counts.items()}
    return rates


def is_human_game(game: Transcript) -> bool:
    """Whether most of the players are known to be people."""
    return sum(player.is_human is True for player in game.players) * 2 > len(game.players)
