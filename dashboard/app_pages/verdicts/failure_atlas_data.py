"""Data of the picture of why messages fail: reasons as bars, by metric. Independent of Streamlit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.shared.formatting import Color, share_text
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from evaluation.comparison import Example, FailureReason, IterationFailures, MetricFailures
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import counted, shortened

COMMON = 5
"""Number of reasons of a metric that are shown before the rare ones are asked for."""

_LONGEST_LABEL = 220
_LONGEST_NAME = 40
_LONGEST_QUOTE = 110
_MINUS = "\u2212"
_NO_CHANGE = 0.05


@dataclass(frozen=True, slots=True)
class FailureAtlas:
    """The picture of one iteration.

    Attributes:
        data: The payload of the component, for ``failure_atlas.js``.
        reasons: The reason of each row.
        targets: What each row's examples open (kind ``example``).
    """

    data: Mapping[str, Any]
    reasons: tuple[FailureReason, ...]
    targets: tuple[MarkTargets, ...]


def failure_atlas(found: IterationFailures, *, with_rare: bool) -> FailureAtlas:
    """The picture of why messages of an iteration fail.

    Args:
        found: The reasons.
        with_rare: Whether to show all reasons of a metric, not the most frequent only.
    """
    shown = [(one, one.reasons if with_rare else one.reasons[:COMMON]) for one in found.metrics]
    groups: list[dict[str, Any]] = []
    reasons: list[FailureReason] = []
    for one, kept in shown:
        groups.append({"title": DEFINITIONS[one.metric].label, "words": _metric_words(one), "first": len(reasons)})
        reasons += kept
    data = {"groups": groups, "rows": [_row(one) for one in reasons], "legend": _legend(found)}
    targets = [
        {"example": tuple(MarkTarget(one.metric, each.transcript_id, each.message_id) for each in one.examples)}
        for one in reasons
    ]
    return FailureAtlas(data, tuple(reasons), tuple(targets))


def rare_count(found: IterationFailures) -> int:
    """Number of reasons that are shown only when the rare ones are asked for."""
    return sum(max(0, len(one.reasons) - COMMON) for one in found.metrics)


def reason_key(one: FailureReason) -> str:
    """Names a reason in an address, without its text."""
    return hashlib.blake2b(f"{one.metric}\n{one.label}".encode(), digest_size=6).hexdigest()


def find_reason(found: IterationFailures, key: str) -> FailureReason | None:
    """The reason that :func:`reason_key` names so; ``None`` when there is none."""
    every = (reason for one in found.metrics for reason in one.reasons)
    return next((one for one in every if reason_key(one) == key), None)


def count_words(one: FailureReason) -> str:
    """The number of rows with the reason: "86 rows, 92 % of those judged"."""
    return f"{counted(one.count, 'row')}, {share_text(one.share)} of those judged"


def trend_words(one: FailureReason) -> tuple[str, Color]:
    """The trend since the reference in words (none without one), and its colour: fewer failures are good."""
    if one.change is None:
        return "", "gray"
    if abs(one.change) < _NO_CHANGE:
        return "= as before", "gray"
    is_more = one.change > 0
    sign = "▲ +" if is_more else f"▼ {_MINUS}"
    new = ", new" if not one.count_before else ""
    return f"{sign}{abs(one.change):.1f} points{new}", "red" if is_more else "green"


def _metric_words(one: MetricFailures) -> str:
    return f"{one.failing:,} of {counted(one.judged, 'judged row')} lose points, {share_text(one.failing / one.judged)}"


def _legend(found: IterationFailures) -> list[str]:
    words = ["bar: share of judged rows"]
    if found.reference:
        words.append(f"┃ the same in {shortened(found.reference, _LONGEST_NAME)}, the reference")
    return [*words, "a reason opens all of its messages, an example its own"]


def _row(one: FailureReason) -> dict[str, Any]:
    trend, color = trend_words(one)
    label, words = shortened(one.label, _LONGEST_LABEL), "; ".join(filter(None, (count_words(one), trend)))
    return {
        "label": label,
        "caption": count_words(one),
        "share": one.share,
        "before": one.share_before,
        "trend": trend,
        "color": color,
        "words": f"{DEFINITIONS[one.metric].label}: {label} {words}. Opens all of them.",
        "examples": [_example(each) for each in one.examples],
    }


def _example(one: Example) -> str:
    name = shortened(one.game_id, _LONGEST_NAME)
    said = ": ".join(filter(None, (one.player, shortened(one.text or one.reason, _LONGEST_QUOTE))))
    return f"{name} · {said}"
