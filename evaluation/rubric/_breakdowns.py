"""Scores of memory accuracy and role consistency by kind of reference, by side and by player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.score import LedgerRow, RowVerdict

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
