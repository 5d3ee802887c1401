"""The seven metrics of rubric 1.0: names, labels, scales, thresholds and versions of their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.score import LIKERT, PERCENT, CoverageRule, LedgerRow, MetricDefinition, RowVerdict, WhenEmpty
from evaluation.text.display import fixed, telling_digits

SIDES: Mapping[str, str] = {"mafia": "Mafia", "town": "town"}
"""A side -> what a reader calls its players."""

_SKILL = {"mafia": "Mafia deception is weak", "town": "The town's reasoning is weak"}
_MOST_REVIEWED = 200


def references_note(rows: Sequence[LedgerRow]) -> str:
    """The references in words: "17/20 accurate, 3 unverified"."""
    rows = [row for row in rows if not row.is_dismissed]
    counts = Counter(row.verdict for row in rows)
    accurate, unverified = counts[RowVerdict.COUNTS], counts[RowVerdict.EXCLUDED]
    settled = accurate + counts[RowVerdict.DOES_NOT_COUNT]
    if not rows:
        return "no references"
    return f"{accurate}/{settled} accurate" + (f", {unverified} unverified" if unverified else "")


def by_kind_of_reference(rows: Sequence[LedgerRow]) -> dict[str, Any]:
    """Findings counted, and how many references of each kind are settled.

    Returns:
        ``accurate``, ``inaccurate`` and ``unverified``: references. ``settled_by_votes``: those that rest on a recorded
        vote. ``settled_by_kind``: kind ("vote", "elimination", "role claim", "accusation", "earlier statement") ->
        references settled; every kind that occurs is there.
    """
    from evaluation.transcript import Vote  # imports pydantic, and help needs none

    rows = [row for row in rows if not row.is_dismissed]
    settled = [row for row in rows if row.denominator]
    counts = Counter(row.details.get("kind", "earlier statement") for row in settled)
    kinds = dict.fromkeys(row.details.get("kind", "earlier statement") for row in rows)
    return {
        "accurate": int(sum(row.numerator for row in settled)),
        "inaccurate": int(sum(row.denominator - row.numerator for row in settled)),
        "unverified": len(rows) - len(settled),
        "settled_by_votes": sum(Vote.has_id(row.refers_to) for row in settled),
        "settled_by_kind": {kind: counts[kind] for kind in kinds},
    }


def by_side_and_player(rows: Sequence[LedgerRow]) -> dict[str, Any]:
    """The score of each side and player, and the excluded messages that a person should look at.

    Returns:
        ``by_side`` and ``by_player``: name -> ``consistent`` and ``with_signal`` (messages), ``messages`` (all of
        them), ``score`` (percent, ``None`` without signal). ``review``: ids of excluded messages that talk about the
        game, those most likely to hold an act first.
    """
    known = [row for row in rows if row.details.get("alignment") is not None]
    open_rows = [row for row in rows if not row.denominator and not row.method.is_decision]
    likely = sorted((row for row in open_rows if row.details.get("marks")), key=lambda row: -len(row.details["marks"]))
    return {
        "by_side": _scores((row.details["alignment"], row) for row in known),
        "by_player": _scores((row.player or "", row) for row in known),
        "review": [row.message_id for row in likely[:_MOST_REVIEWED]],
    }


def _scores(named: Iterable[tuple[str, LedgerRow]]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[LedgerRow]] = {}
    for name, row in named:
        groups.setdefault(name, []).append(row)
    found: dict[str, dict[str, Any]] = {}
    for name, rows in groups.items():
        consistent = sum(row.numerator for row in rows)
        with_signal = sum(row.denominator for row in rows)
        score = 100 * consistent / with_signal if with_signal else None
        counts = {"consistent": int(consistent), "with_signal": int(with_signal), "messages": len(rows)}
        found[name] = {**counts, "score": score}
    return found


def weak_side_words(details: Mapping[str, Any], threshold: float) -> str:
    """The side that fails, in words: "Mafia deception is weak (4 of 10 messages fit)"; empty when none does."""
    sides = details.get("by_side") or {}
    failing = [(one["score"], side, one) for side, one in sides.items() if one["score"] is not None]
    failing = sorted(entry for entry in failing if entry[0] < threshold - 1e-9)
    words = [f"{_SKILL[side]} ({one['consistent']} of {one['with_signal']} messages fit)" for _, side, one in failing]
    return "; ".join(words)


def score_words(definition: MetricDefinition, score: float, digits: int = 1) -> str:
    """The score with its unit: "76.0 %" or "3.5 of 5"."""
    if definition.scale == PERCENT:
        return f"{fixed(score, digits)} %"
    return f"{fixed(score, digits)} of {definition.scale.high:g}"


def shortfall_words(definition: MetricDefinition, score: float, threshold: float) -> str:
    """A failed score beside its threshold: "76.0 %, below the threshold of 80 %"."""
    unit = " %" if definition.scale == PERCENT else ""
    words = score_words(definition, score, telling_digits(score, threshold, 1))
    return f"{words}, below the threshold of {threshold:g}{unit}"


def failure_words(definition: MetricDefinition, score: float, threshold: float, failure: str = "") -> str:
    """A failed score beside its threshold, or beside the reason why it fails whatever the score."""
    return (
        f"{score_words(definition, score)}, but {failure}" if failure else shortfall_words(definition, score, threshold)
    )


MEMORY_ACCURACY = MetricDefinition(
    "memory_accuracy",
    "Memory accuracy",
    PERCENT,
    80.0,
    "10",
    WhenEmpty.FULL_MARKS,
    "references seen, none could be checked: connect a model, or check them",
    CoverageRule("references to the past settled", fewest=5, least_share=0.5),
    by_kind_of_reference,
    references_note,
)
STRATEGIC_DEPTH = MetricDefinition(
    "strategic_depth",
    "Strategic depth",
    PERCENT,
    60.0,
    "8",
    coverage=CoverageRule("messages settled as arguing or not", fewest=1, least_share=0.5),
)
COHERENCE = MetricDefinition(
    "coherence",
    "Conversation coherence",
    PERCENT,
    70.0,
    "10",
    coverage=CoverageRule("messages settled as answering or not", fewest=1, least_share=0.5),
)
ROLE_CONSISTENCY = MetricDefinition(
    "role_consistency",
    "Role consistency",
    PERCENT,
    80.0,
    "10",
    coverage=CoverageRule("messages checked against the role", fewest=5, least_share=0.2),
    derive=by_side_and_player,
)
PERSONALITY_DIVERSITY = MetricDefinition("personality_diversity", "Personality diversity", PERCENT, 50.0, "2")
ANTI_REPETITION = MetricDefinition("anti_repetition", "Anti-repetition", PERCENT, 90.0, "2")
ENGAGEMENT = MetricDefinition("engagement", "Engagement", LIKERT, 3.0, "1", WhenEmpty.PENDING, "not rated yet")

DEFINITIONS: Mapping[str, MetricDefinition] = {
    definition.name: definition
    for definition in (
        MEMORY_ACCURACY,
        STRATEGIC_DEPTH,
        COHERENCE,
        ROLE_CONSISTENCY,
        PERSONALITY_DIVERSITY,
        ANTI_REPETITION,
        ENGAGEMENT,
    )
}
"""Every metric by name, in the rubric's order."""

VERSIONS: Mapping[str, str] = {d.name: d.version for d in DEFINITIONS.values()}
"""The version under which each metric's results are stored today."""

DEFAULT_THRESHOLDS: Mapping[str, float] = {d.name: d.threshold for d in DEFINITIONS.values()}

SHORT_LABELS: Mapping[str, str] = {
    "memory_accuracy": "Memory",
    "strategic_depth": "Depth",
    "coherence": "Coherence",
    "role_consistency": "Role",
    "personality_diversity": "Diversity",
    "anti_repetition": "Anti-repetition",
    "engagement": "Engagement",
}
"""Every metric in one word, for the columns of tables and for badges, in the rubric's order."""
