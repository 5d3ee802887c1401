"""Say in words, for each metric, how far its number can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from evaluation.rubric.control_words import COMPANION_LABELS
from evaluation.rubric.definitions import (
    ANTI_REPETITION,
    COHERENCE,
    DEFINITIONS,
    ENGAGEMENT,
    MEMORY_ACCURACY,
    PERSONALITY_DIVERSITY,
    ROLE_CONSISTENCY,
    STRATEGIC_DEPTH,
)
from evaluation.text.display import counted

_MEASURED = "measured.yaml"
_WELL, _POORLY = 0.8, 0.6
_DONE = {
    MEMORY_ACCURACY.name: "players' names are swapped in the record",
    COHERENCE.name: "the messages are put in random order",
    ROLE_CONSISTENCY.name: "the roles are dealt again at random",
    PERSONALITY_DIVERSITY.name: "the messages are given to random players",
    ANTI_REPETITION.name: "a fifth of the messages is replaced by repeats",
}
_READ = {
    STRATEGIC_DEPTH.name: "Of messages that argue and of those that do not, it tells",
    COHERENCE.name: "Of messages that answer somebody and of those that do not, it tells",
}


class Trust(StrEnum):
    """Degrees of trust in a number."""

    YES = "can be trusted"
    WITH_CARE = "trust it with care"
    HARDLY = "says little by itself"


@dataclass(frozen=True, slots=True)
class MetricTrust:
    """Trust in one metric's number, and why.

    Attributes:
        metric: The metric's name.
        trust: The answer.
        sentences: What it rests on: agreement with people's labels on games that the reader never saw, then whether
            the score falls when what it measures is destroyed.
    """

    metric: str
    trust: Trust
    sentences: tuple[str, ...]


def metric_trust(faults: Sequence[Mapping[str, Any]] | None = None) -> tuple[MetricTrust, ...]:
    """The answer for each of the seven metrics, in the rubric's order.

    Args:
        faults: The rows of :func:`~evaluation.validity.fault_table` on games of one's own; for a metric that has none,
            those of the test games that ship with the sources stand in.

    Returns:
        ``YES`` where the worse of two shares is 0.8 or more, ``HARDLY`` where it is below 0.6: the mean agreement with
        labels on the two kinds of kept games, where somebody has to read; and the share of destroyed copies that score
        below the game, where a way to destroy it is known.
    """
    rows = {(row["metric"], row["measure"]): row for row in measured()["faults"]}
    own = {(row["metric"], row["measure"]): row for row in faults or ()}
    of_own = {metric for metric, _ in own}
    return tuple(_trust(name, own if name in of_own else rows, own=name in of_own) for name in DEFINITIONS)


def _trust(name: str, rows: Mapping[tuple[str, str], Mapping[str, Any]], *, own: bool) -> MetricTrust:
    if name == ENGAGEMENT.name:
        words = "People's own ratings. Team, Agreement shows how far they agree with each other."
        return MetricTrust(name, Trust.YES, (words,))
    known = measured()["reading"].get(name)
    fault = rows.get((name, "score"))
    shares = [] if known is None else [sum(known[kind]["reader"] for kind in ("known", "other")) / 2]
    shares += [] if fault is None else [fault["auc"]]
    worst = min(shares, default=0.0)
    trust = Trust.YES if worst >= _WELL else Trust.HARDLY if worst < _POORLY else Trust.WITH_CARE
    return MetricTrust(name, trust, (*_reading(name, known), *_noticing(name, rows, own=own)))


def _reading(name: str, known: Mapping[str, Any] | None) -> Iterator[str]:
    if known is None:
        yield "It counts words and phrases; nothing has to be understood."
        return
    (reader, rule), (other, other_rule) = ((known[kind]["reader"], known[kind]["rule"]) for kind in ("known", "other"))
    if name in _READ:
        yield (
            f"{_READ[name]} {100 * reader:.0f} of 100 rightly in games of the kinds that the reader learned from, and "
            f"{100 * other:.0f} in games of other kinds; 50 would be guessing. The rule alone: {100 * rule:.0f} and "
            f"{100 * other_rule:.0f}."
        )
    elif name == MEMORY_ACCURACY.name:
        yield (
            f"It finds references to the past with an F1 of {reader:.2f} in games of the kinds that the reader learned "
            f"from and {other:.2f} in others (the rule alone: {rule:.2f} and {other_rule:.2f}; 1 would be perfect)."
        )
        settled = measured()["settled"]
        yield (
            "What it settles by the record was right in {} of {} cases, and in {} of {} in games of other kinds: look "
            "at these rows, or let a model read the game."
        ).format(*settled["known"], *settled["other"])
    else:
        yield (
            f"It finds what players do to whom (accuse, defend, ask) with an F1 of {reader:.2f} in games of the kinds "
            f"that the reader learned from and {other:.2f} in others (the rule alone: {rule:.2f} and {other_rule:.2f}; "
            "1 would be perfect)."
        )


def _noticing(name: str, rows: Mapping[tuple[str, str], Mapping[str, Any]], *, own: bool) -> Iterator[str]:
    fault = rows.get((name, "score"))
    if fault is None:
        yield "No way is known to destroy it alone, so whether it would notice was not tried."
        return
    where = counted(fault["games"], "game") + (" of yours" if own else " that it was tested on")
    yield (
        f"When {_DONE[name]}, the score falls in {100 * fault['auc']:.0f} of 100 copies of {where}; 50 would be chance."
    )
    better = [row for (metric, measure), row in rows.items() if metric == name and measure in COMPANION_LABELS]
    if better and better[0]["auc"] > fault["auc"]:
        yield (
            f"The number beside it, {COMPANION_LABELS[better[0]['measure']]}, falls in {100 * better[0]['auc']:.0f} of "
            "100."
        )


@cache
def measured() -> Mapping[str, Any]:
    """The figures of the shipped file: ``reading``, ``settled`` and ``faults``."""
    found: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath(_MEASURED).read_text("utf-8"))
    return found
