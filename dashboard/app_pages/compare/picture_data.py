"""Data of the comparison's picture: seven differences by evidence, and what moved the scores.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dashboard.shared.formatting import score_text
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from evaluation.comparison import IterationComparison, Mover
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import MetricDefinition
from evaluation.statistics import Difference, Interval, Summary
from evaluation.statistics.comparison import Outcome
from evaluation.statistics.words import change_words, interval_words, p_words
from evaluation.text.display import counted, listed, shortened

_LONGEST_LABEL = 160
_MOST_NAMES = 4
_MINUS = "\u2212"
_LEGEND = (
    "○ before",
    "● after",
    "lines: 95 % intervals of the means",
    "┃ threshold, shaded below it",
    "target first, then by evidence",
)
_OUTCOMES = {
    Outcome.BETTER: ("▲ better", "green"),
    Outcome.WORSE: ("▼ worse", "red"),
    Outcome.NO_EVIDENCE: ("– no evidence", "gray"),
    Outcome.UNTESTABLE: ("? cannot be tested", "gray"),
}


@dataclass(frozen=True, slots=True)
class ComparisonPicture:
    """The picture of one comparison.

    Attributes:
        data: The payload of the component, for ``comparison_picture.js``.
        targets: What each row's marks open: first the metrics (kinds ``metric``, ``before``, ``after``), then the bars
            (kind ``mover``).
    """

    data: Mapping[str, Any]
    targets: tuple[MarkTargets, ...]


def comparison_picture(found: IterationComparison, thresholds: Mapping[str, float]) -> ComparisonPicture:
    """The picture of two iterations.

    Args:
        found: The comparison.
        thresholds: Today's, by metric.
    """
    names = found.before.iteration.name, found.after.iteration.name
    ordered = by_evidence(found.comparison.differences)
    folded = [fold for kind in ("reason", "player") for fold in _folded(found.movers, kind)]
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
        "rows": [_row(one, thresholds[one.name]) for one in ordered],
        "movers": [_bar(fold) for fold in folded],
        "titles": titles,
        "legend": list(_LEGEND),
    }
    targets = [*(_row_targets(one.name, *names) for one in ordered), *(_bar_targets(fold[0]) for fold in folded)]
    return ComparisonPicture(data, tuple(targets))


def by_evidence(differences: Iterable[Difference]) -> list[Difference]:
    """The target first, then the smallest p that decided; what cannot be tested comes last."""
    return sorted(differences, key=lambda one: (not one.is_primary, math.inf if math.isnan(one.p) else one.p))


def _row(one: Difference, threshold: float) -> dict[str, Any]:
    definition = DEFINITIONS[one.name]
    outcome, color = _OUTCOMES[one.outcome]
    difference, interval = _signed(change_words(one.difference, one.unit)), _interval_text(one)
    rank = _rank(one)
    return {
        "label": definition.label,
        "isTarget": one.is_primary,
        "threshold": _share(threshold, definition),
        "before": _side("before", one.before, definition),
        "after": _side("after", one.after, definition),
        "color": color,
        "words": f"{definition.label}: {difference}, {interval}; {one.outcome}, {rank}.",
        "texts": {"rank": rank, "difference": difference, "interval": interval, "outcome": outcome},
    }


def _rank(one: Difference) -> str:
    p = "no test possible" if math.isnan(one.p) else f"p {p_words(one.p)}"
    if one.is_primary:
        return f"◎ target, {p}"
    return p if math.isnan(one.p) else f"{p} after Holm"


def _interval_text(one: Difference) -> str:
    """The interval at the level that decided, so that it never contradicts the word beside it."""
    decided = one.deciding_interval
    if not decided.is_known:
        return "no interval"
    level = f"{100 * decided.level:.1f}".removesuffix(".0")
    return f"{_signed(interval_words(decided, signed=True))} ({level} %)"


def _side(word: str, side: Summary, definition: MetricDefinition) -> dict[str, Any]:
    mean = None if math.isnan(side.mean) else side.mean
    return {
        "mean": _share(mean, definition),
        "interval": _places(side.interval, definition),
        "label": f"{word}: {score_text(mean, definition.scale)}, {counted(side.n, 'game')}",
    }


def _places(interval: Interval, definition: MetricDefinition) -> list[float | None] | None:
    if interval.low is None or interval.high is None:
        return None
    return [_share(interval.low, definition), _share(interval.high, definition)]


def _share(value: float | None, definition: MetricDefinition) -> float | None:
    return None if value is None else definition.scale.share(value)


def _row_targets(metric: str, before: str, after: str) -> MarkTargets:
    old, new = MarkTarget(metric, iteration=before), MarkTarget(metric, iteration=after)
    return {"metric": (new,), "before": (old,), "after": (new,)}


def _folded(movers: Sequence[Mover], kind: str) -> list[list[Mover]]:
    """The movers of one kind, losses first; players who moved one metric equally are put together."""

    def place(one: Mover) -> tuple[float, str, str]:
        return (round(one.change, 1), one.metric, one.label if one.kind == "reason" else "")

    chosen = sorted((one for one in movers if one.kind == kind), key=place)
    return [list(group) for _, group in groupby(chosen, key=place)]


def _bar(fold: Sequence[Mover]) -> dict[str, Any]:
    first, names = fold[0], [one.label for one in fold]
    others = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    who = ", ".join(names[:_MOST_NAMES]) + others if others else listed(names)
    label = shortened(first.label if first.kind == "reason" else who, _LONGEST_LABEL)
    rows = f"{sum(one.before_rows for one in fold)} → {sum(one.after_rows for one in fold)} rows that lose points"
    text = f"{first.change:+.1f}" + (" each" if len(fold) > 1 else "")
    metric = DEFINITIONS[first.metric].label
    return {
        "label": label,
        "caption": f"{metric} · {rows}",
        "change": first.change,
        "text": _signed(text),
        "words": f"{metric}, {first.kind} {label}: {_signed(text)} points. Opens an example.",
    }


def _bar_targets(one: Mover) -> MarkTargets:
    return {"mover": tuple(MarkTarget(one.metric, each.transcript_id, each.message_id) for each in one.examples[:1])}


def _signed(text: str) -> str:
    """With a minus sign in place of a hyphen."""
    return text.replace("-", _MINUS)
