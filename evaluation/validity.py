"""Trust in each metric's number, by the measured figures that ship with the product."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from evaluation.rubric.at_chance import COMPANION_LABELS
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
from evaluation.text.display import counted, listed

_MEASURED = "measured_validity.yaml"
_WELL, _POORLY = 0.8, 0.6
_DONE = {
    MEMORY_ACCURACY.name: "players' names are swapped in the record",
    COHERENCE.name: "the messages are put in random order",
    ROLE_CONSISTENCY.name: "the roles are dealt again at random",
    PERSONALITY_DIVERSITY.name: "the messages are given to random players",
    ANTI_REPETITION.name: "a fifth of the messages is replaced by repeats",
}
_READ = {
    STRATEGIC_DEPTH.name: "Of messages that argue and of those that do not, the reader classifies",
    COHERENCE.name: "Of messages that answer somebody and of those that do not, the reader classifies",
}


class Trust(StrEnum):
    """Degrees of trust in a number."""

    YES = "high trust"
    WITH_CARE = "some trust"
    HARDLY = "low trust"
    RATED = "rated by people"
    """Neither: it is worth as much as the raters agree."""

    @classmethod
    def of(cls, share: float) -> Trust:
        """The trust that the result of a check earns, 0 to 1."""
        return cls.YES if share >= _WELL else cls.HARDLY if share < _POORLY else cls.WITH_CARE


@dataclass(frozen=True, slots=True)
class MetricTrust:
    """Trust in one metric's number, and why.

    Attributes:
        metric: The metric's name.
        trust: The answer.
        sentences: What it rests on: agreement with people's labels on games that a reader had not seen, then whether
            the score falls when what it measures is destroyed.
        agrees: The agreement with those labels, 0 to 1, in games of the kinds that the reader learned from and in games
            of other kinds; ``None`` where nothing has to be read.
        notices: The share of destroyed copies that score below the game; ``None`` where that was not tried.
    """

    metric: str
    trust: Trust
    sentences: tuple[str, ...]
    agrees: tuple[float, float] | None = None
    notices: float | None = None


def metric_trust(faults: Sequence[Mapping[str, Any]] | None = None) -> tuple[MetricTrust, ...]:
    """The answer for each of the seven metrics, in the rubric's order.

    Args:
        faults: The rows of ``benchmarks.planted_faults.fault_table`` on other games than the shipped ones; for a metric
            that has none, the shipped ones stand in.

    Returns:
        ``YES`` where the worst of three shares is 0.8 or more, ``HARDLY`` where it is below 0.6: the agreement with
        labels on either kind of kept games, where somebody has to read; and the share of destroyed copies that score
        below the game, where a way to destroy it is known. ``RATED`` for what people rate.
    """
    own = {row["metric"] for row in faults or ()}
    shipped = [row for row in measured()["faults"] if row["metric"] not in own]
    rows = {(row["metric"], row["measure"]): row for row in (*shipped, *(faults or ()))}
    return tuple(_trust(name, rows) for name in DEFINITIONS)


def trust_words(metric: str) -> str:
    """Trust in a metric's number, in the words of every page: those of :class:`Trust`."""
    return next(str(one.trust) for one in metric_trust() if one.metric == metric)


def trust_sentence(
    known: Sequence[MetricTrust], scored: Collection[str], target: str | None, rests: str, beside: str = ""
) -> str:
    """Names the metrics that hardly tell anything, the target first: "Low trust: Role consistency."

    Args:
        known: From :func:`metric_trust`.
        scored: The metrics that are looked at.
        target: The one that decides, if any; it is warned of as soon as it has to be trusted with care.
        rests: What rests on it: "The rule".
        beside: The target's scores beside chance, before and after, if known.

    Returns:
        Empty where all can be trusted.
    """
    weak = [one.metric for one in known if one.trust is Trust.HARDLY and one.metric in scored]
    others = [DEFINITIONS[metric].label for metric in weak if metric != target]
    trust = next((one.trust for one in known if one.metric == target and one.metric in scored), Trust.YES)
    if target is not None and trust is Trust.HARDLY:
        beside = f"; {beside}" if beside else ""
        warning = f"⚠ {rests} rests on {DEFINITIONS[target].label}: {trust}{beside}."
        return f"{warning} Low trust as well: {listed(others)}." if others else warning
    said = [f"⚠ {rests} rests on {DEFINITIONS[target].label}: {trust}."] if target and trust is Trust.WITH_CARE else []
    if others:
        said.append(f"Low trust: {listed(others)}.")
    return " ".join(said)


def _trust(name: str, rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> MetricTrust:
    if name == ENGAGEMENT.name:
        words = "People's own ratings. Team, Agreement shows how far they agree with each other."
        return MetricTrust(name, Trust.RATED, (words,))
    known = measured()["reading"].get(name)
    fault = rows.get((name, "score"))
    agrees = None if known is None else (known["known"]["reader"], known["other"]["reader"])
    notices = None if fault is None else float(fault["auc"])
    worst = min((share for share in (*(agrees or ()), notices) if share is not None), default=0.0)
    return MetricTrust(name, Trust.of(worst), (*_reading(name, known), *_noticing(name, rows)), agrees, notices)


def _reading(name: str, known: Mapping[str, Any] | None) -> Iterator[str]:
    if known is None:
        yield "Words and phrases are counted; nothing has to be understood."
        return
    (reader, rule), (other, other_rule) = ((known[kind]["reader"], known[kind]["rule"]) for kind in ("known", "other"))
    if name in _READ and reader == rule:
        yield (
            f"{_READ[name].removesuffix('the reader classifies')}rules classify {100 * rule:.0f} of 100 correctly in "
            f"games of the kinds that they were made on, and {100 * other_rule:.0f} in games of other kinds; 50 would "
            "be guessing. The built-in reader has no licence here: connect a model for more."
        )
        return
    if name in _READ:
        yield (
            f"{_READ[name]} {100 * reader:.0f} of 100 correctly in games of the kinds that it learned from, and "
            f"{100 * other:.0f} in games of other kinds; 50 would be guessing. Rules alone: {100 * rule:.0f} and "
            f"{100 * other_rule:.0f}."
        )
        return
    found = (
        "references to the past" if name == MEMORY_ACCURACY.name else "what players do to whom (accuse, defend, ask)"
    )
    yield (
        f"The reader finds {found} with an F1 of {reader:.2f} in games of the kinds that it learned from and "
        f"{other:.2f} in games of other kinds; 1 would be perfect, nothing missed and nothing wrong. Rules alone: "
        f"{rule:.2f} and {other_rule:.2f}."
    )
    if name == ROLE_CONSISTENCY.name:
        right, said = measured()["decided"][name]
        yield f"It says less than the rules: of what it said in games of other kinds, {right} of {said} were right."
    if name == MEMORY_ACCURACY.name:
        settled = measured()["settled"]
        yield (
            "What the record settled was right in {} of {} cases, but in only {} of {} in games of other kinds: check "
            "every settled row of such games yourself, or let a model read them."
        ).format(*settled["known"], *settled["other"])


def _noticing(name: str, rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[str]:
    fault = rows.get((name, "score"))
    if fault is None:
        yield "No way is known to destroy this and nothing else, so the second check cannot be made."
        return
    where = counted(fault["games"], "test game")
    yield (
        f"When {_DONE[name]}, the score falls in {100 * fault['auc']:.0f} of 100 copies of {where}; 50 would be chance."
    )
    better = [row for (metric, measure), row in rows.items() if metric == name and measure in COMPANION_LABELS]
    if better and better[0]["auc"] > fault["auc"]:
        yield (
            f"The companion of the score, {COMPANION_LABELS[better[0]['measure']]}, falls in "
            f"{100 * better[0]['auc']:.0f} of 100."
        )


def decided_words(metric: str) -> str:
    """The measured share of the reader's rows of a metric that were right; empty where it was not measured.

    Such as "right in 459 of 528 such decisions in other games".
    """
    right, rows = measured()["decided"].get(metric, (0, 0))
    return f"right in {right} of {rows} such decisions in other games" if rows else ""


@cache
def measured() -> Mapping[str, Any]:
    """The figures of the shipped file: ``reading``, ``decided``, ``settled``, ``faults`` and ``check``."""
    found: Mapping[str, Any] = yaml.safe_load(files("evaluation").joinpath(_MEASURED).read_text("utf-8"))
    return found
