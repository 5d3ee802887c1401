"""Data of the comparison's picture: seven differences by evidence, and what moved the scores.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import score_text
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from evaluation.comparison.iterations import IterationComparison
from evaluation.comparison.movers import Mover
from evaluation.iterations.keep_or_revert import IterationSide
from evaluation.iterations.tests import Game
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import MetricDefinition
from evaluation.statistics.comparison import Difference, Outcome, Summary
from evaluation.statistics.words import evidence_words, seen_change, sizes_words
from evaluation.text.display import counted, listed, shortened

_LONGEST_LABEL = 160
_LONGEST_NAME = 60
_MOST_DOTS = 30
_MOST_BARS = 5
_MOST_NAMES = 4
_MINUS = "\u2212"
_LEGEND = (
    "○ before",
    "● after",
    "· a game",
    "┃ threshold: left of it fails",
    "below the verdict: where the true change may lie",
    "the strongest evidence first, the target on top",
)
_OUTCOMES = {
    Outcome.BETTER: ("▲ better beyond luck", "green"),
    Outcome.WORSE: ("▼ worse beyond luck", "red"),
    Outcome.NO_EVIDENCE: ("– could be luck", "gray"),
    Outcome.UNTESTABLE: ("? cannot be tested", "gray"),
}


@dataclass(frozen=True, slots=True)
class ComparisonPicture:
    """The picture of one comparison.

    Attributes:
        data: The payload of the component, for ``comparison_picture.js``.
        targets: What each row's marks open: first the metrics (kinds ``metric``, ``before``, ``after``), then the bars
            (kind ``mover``); kinds ``before_game`` and ``after_game`` open a game.
    """

    data: Mapping[str, Any]
    targets: tuple[MarkTargets, ...]


def comparison_picture(found: IterationComparison, thresholds: Mapping[str, float]) -> ComparisonPicture:
    """The picture of two iterations.

    Args:
        found: The comparison.
        thresholds: Today's, by metric.
    """
    ordered = by_evidence(found.comparison.differences)
    # The largest only: all of them stand in a table.
    folded = [fold for kind in ("reason", "player") for fold in _largest(_folded(found.movers, kind))]
    reasons = sum(fold[0].kind == "reason" for fold in folded)
    titles = [
        {"text": text, "first": first}
        for text, first, many in (
            ("What moved the scores: reasons", 0, reasons),
            ("What moved the scores: players", reasons, len(folded) - reasons),
        )
        if many
    ]
    data = {
        "rows": [_row(one, thresholds[one.name], found) for one in ordered],
        "movers": [_bar(fold) for fold in folded],
        "titles": titles,
        "legend": list(_LEGEND),
    }
    targets = [*(_row_targets(one.name, found) for one in ordered), *(_bar_targets(fold[0]) for fold in folded)]
    return ComparisonPicture(data, tuple(targets))


def by_evidence(differences: Iterable[Difference]) -> list[Difference]:
    """The target first, then the smallest p that decided; what cannot be tested comes last."""
    return sorted(differences, key=lambda one: (not one.is_primary, math.inf if math.isnan(one.p) else one.p))


def sentence(found: IterationComparison) -> str:
    """Compare two iterations in one sentence, with their names: untrusted text.

    Such as "Prompt v4 against Prompt v2: better beyond luck on Strategic depth; the others could be luck, among
    them Engagement, which is lower."
    """
    before, after = found.before, found.after
    names = [shortened(side.name, _LONGEST_NAME) for side in (after, before)]
    differences = found.comparison.differences
    lower = [
        METRIC_LABELS[one.name]
        for one in differences
        if one.outcome is Outcome.NO_EVIDENCE and round(one.after.mean, 1) < round(one.before.mean, 1)
    ]
    also = f", among them {listed(lower)}, which {'is' if len(lower) == 1 else 'are'} lower" if lower else ""
    games = sizes_words(len(after.games), len(before.games))
    return f"{names[0]} against {names[1]}, {games}: {evidence_words(differences, METRIC_LABELS)}{also}."


def _row(one: Difference, threshold: float, found: IterationComparison) -> dict[str, Any]:
    definition = DEFINITIONS[one.name]
    outcome, color = _OUTCOMES[one.outcome]
    difference = seen_change(one).replace("-", _MINUS)
    return {
        "label": definition.label,
        "isTarget": one.is_primary,
        "threshold": definition.scale.share(threshold),
        "before": _side("before", found.before, one.before, definition),
        "after": _side("after", found.after, one.after, definition),
        "color": color,
        "words": f"{definition.label}: {difference}; {outcome[2:]}{', the target' * one.is_primary}.",
        "texts": {
            "difference": difference,
            "values": " → ".join(
                score_text(None if math.isnan(side.mean) else side.mean, definition.scale)
                for side in (one.before, one.after)
            ),
            "outcome": outcome,
            "interval": _may_be(one),
            "games": _games_words(one, found),
        },
    }


def _may_be(one: Difference) -> str:
    """The range of the true change, at the level that decided: it holds 0 just where the change could be luck."""
    low, high = one.deciding_interval.low, one.deciding_interval.high
    return "" if low is None or high is None else f"{low:+z.1f} to {high:+z.1f}".replace("-", _MINUS)


def _games_words(one: Difference, found: IterationComparison) -> str:
    """Number of games with a score where that is not all of them: "2 of 3 games after"; else empty."""
    sides = (("before", one.before, found.before), ("after", one.after, found.after))
    return ", ".join(
        f"{summary.n} of {counted(len(side.games), 'game')} {word}"
        for word, summary, side in sides
        if summary.n < len(side.games)
    )


def _side(word: str, side: IterationSide, summary: Summary, definition: MetricDefinition) -> dict[str, Any]:
    mean = None if math.isnan(summary.mean) else summary.mean
    return {
        "mean": None if mean is None else definition.scale.share(mean),
        "label": f"{word}: {score_text(mean, definition.scale)}, {counted(summary.n, 'game')}",
        "games": [
            {
                "place": definition.scale.share(score),
                "label": f"{shortened(game.name, _LONGEST_NAME)}: {score_text(score, definition.scale)}",
            }
            for game, score in _scored(side, definition.name)
        ],
    }


def _scored(side: IterationSide, metric: str) -> list[tuple[Game, float]]:
    """The games with a score, at most as many as can be told apart: beyond that the means say more."""
    scores = [
        (game, held.score) for game in side.games if (held := game.metrics.get(metric)) and held.score is not None
    ]
    return scores if len(scores) <= _MOST_DOTS else []


def _row_targets(metric: str, found: IterationComparison) -> MarkTargets:
    old, new = (MarkTarget(metric, iteration=side.iteration.name) for side in (found.before, found.after))
    dots = {
        f"{word}_game": tuple(MarkTarget(metric, game.transcript_id) for game, _ in _scored(side, metric))
        for word, side in (("before", found.before), ("after", found.after))
    }
    return {"metric": (new,), "before": (old,), "after": (new,), **dots}


def _folded(movers: Sequence[Mover], kind: str) -> list[list[Mover]]:
    """The movers of one kind, in a fixed order; players who moved one metric equally are put together."""

    def place(one: Mover) -> tuple[float, str, str]:
        return (round(one.change, 1), one.metric, one.label if one.kind == "reason" else "")

    chosen = sorted((one for one in movers if one.kind == kind), key=place)
    return [list(group) for _, group in groupby(chosen, key=place)]


def _largest(folded: list[list[Mover]]) -> list[list[Mover]]:
    return sorted(folded, key=lambda fold: -abs(fold[0].change))[:_MOST_BARS]


def _bar(fold: Sequence[Mover]) -> dict[str, Any]:
    first, names = fold[0], [one.label for one in fold]
    others = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    who = ", ".join(names[:_MOST_NAMES]) + others if others else listed(names)
    label = shortened(first.label if first.kind == "reason" else who, _LONGEST_LABEL)
    before, after = sum(one.before_rows for one in fold), sum(one.after_rows for one in fold)
    rows = f"cost points {counted(before, 'time')} before, {counted(after, 'time')} after"
    text = f"{first.change:+z.1f}".replace("-", _MINUS) + (
        "\u00a0points\u00a0each" if len(fold) > 1 else "\u00a0points"
    )
    metric = DEFINITIONS[first.metric].label
    return {
        "label": label,
        "caption": f"{metric} · {rows}",
        "change": first.change,
        "text": text,
        "words": f"{metric}, {first.kind} {label}: {text}. Opens an example.",
    }


def _bar_targets(one: Mover) -> MarkTargets:
    return {"mover": tuple(MarkTarget(one.metric, each.transcript_id, each.message_id) for each in one.examples[:1])}
