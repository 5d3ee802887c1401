"""Coherence and strategic depth: the messages that count for the rules, against the readers' labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.labels import Figure, Key, Opened, agreement, ratio
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.definitions import COHERENCE, STRATEGIC_DEPTH
from evaluation.score import LedgerRow, RowVerdict

METRICS = {"coherence": COHERENCE.name, "depth": STRATEGIC_DEPTH.name}


def coherence(opened: Opened) -> Iterator[Figure]:
    """Whether a message answers an earlier one; and where both say so, whether the rule names one that is labelled."""
    yield from _figures("coherence", opened)
    rows = _rows("coherence", opened)
    named = [
        (set(label["answers"]), answered)
        for key, label in opened.labels("coherence").items()
        if label["answers"] and _counts(rows[key]) and (answered := _answered(opened, key, rows[key]))
    ]
    yield ratio("names a message that is labelled", sum(bool(one & other) for one, other in named), len(named))


def depth(opened: Opened) -> Iterator[Figure]:
    """Whether a message shows strategic thinking."""
    yield from _figures("depth", opened)


def _figures(set_name: str, opened: Opened) -> Iterator[Figure]:
    rows = _rows(set_name, opened)
    first, second = (
        {key: _is_yes(label) for key, label in opened.labels(set_name, reading).items()}
        for reading in ("first", "second")
    )
    both = [(key[0], label, _counts(rows[key])) for key, label in sorted(first.items())]
    hits, yes, counted = (sum(values) for values in zip(*((a and b, a, b) for _, a, b in both), strict=True))
    rejected, no = sum(not (label or rule) for _, label, rule in both), len(both) - yes
    yield Figure("balanced accuracy", (hits / yes + rejected / no) / 2, f"{len(both)} messages, {yes} of them yes")
    yield ratio("precision", hits, counted)
    yield ratio("recall", hits, yes)
    yield ratio("specificity", rejected, no)
    yield from agreement("rule and first reading", both, opened)
    yield from agreement("both readings", [(key[0], first[key], again) for key, again in second.items()], opened)


def _rows(set_name: str, opened: Opened) -> dict[Key, LedgerRow]:
    return {
        (game_id, message.index): row
        for game_id, game in opened.games.items()
        for row in SCORERS[METRICS[set_name]](game).ledger
        if (message := game.message(row.message_id or "")) is not None
    }


def _counts(row: LedgerRow) -> bool:
    return row.verdict is RowVerdict.COUNTS


def _is_yes(label: Mapping[str, Any]) -> bool:
    return bool(label.get("answers") or label.get("is_strategic"))


def _answered(opened: Opened, key: Key, row: LedgerRow) -> set[int]:
    """Indexes of the messages that the rule says the message answers."""
    ids = row.details.get("answers") or [row.refers_to or ""]
    return {message.index for one in ids if (message := opened.games[key[0]].message(one)) is not None}
