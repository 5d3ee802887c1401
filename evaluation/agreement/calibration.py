"""Compare a judge's marks with people's blind marks, and say in words which judge is calibrated."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from evaluation.agreement._figures import Figure, figures, moments_per_game, share_of
from evaluation.judging.propositions.own_dimensions import is_computed
from evaluation.persona.results import LABELS
from evaluation.ratings import BlindMark
from evaluation.statistics.agreement import bias_of, correlation_of, kappa_of, moments

FEWEST_MARKS = 30
"""So many blind marks of a dimension make a judge calibrated for it."""

MarkCounts = Mapping[tuple[str, str], int]
"""Number of blind marks by model and dimension."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge against people in one dimension.

    Attributes:
        marks: Blind marks, several people's of one judgement included.
        judgements: How many judgements they are of.
        kappa: Quadratic-weighted, with its interval over judgements.
        spearman: Of plain correlation of marks.
        bias: Mean of judge minus person, in points of the 0 to 9 scale.
        close: Share of pairs that differ by at most one point.
        floor_close: The share that always the commonest mark of people would reach.
        ceiling_kappa: Kappa between two people who marked the same judgement; NaN without any.
        ceiling_judgements: How many judgements two or more people marked.
    """

    model: str
    dimension: str
    marks: int
    judgements: int
    kappa: Figure
    correlation: Figure
    bias: Figure
    close: Figure
    floor_close: float
    ceiling_kappa: float
    ceiling_judgements: int

    @property
    def is_calibrated(self) -> bool:
        """Whether people have marked enough of its judgements."""
        return self.marks >= FEWEST_MARKS

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible; a number that is not defined is null."""
        return {
            "model": self.model,
            "dimension": self.dimension,
            "marks": self.marks,
            "judgements": self.judgements,
            "is_calibrated": self.is_calibrated,
            "kappa": self.kappa.as_dict(),
            "correlation": self.correlation.as_dict(),
            "bias": self.bias.as_dict(),
            "close": self.close.as_dict(),
            "floor_close": None if math.isnan(self.floor_close) else self.floor_close,
            "ceiling_kappa": None if math.isnan(self.ceiling_kappa) else self.ceiling_kappa,
            "ceiling_judgements": self.ceiling_judgements,
        }


@dataclass(frozen=True, slots=True)
class WrongProposition:
    """A proposition that a judge marks otherwise than people.

    Attributes:
        bias: Mean of judge minus person.
        distance: Mean of the absolute difference.
    """

    model: str
    dimension: str
    proposition_id: str
    claim: str
    marks: int
    bias: float
    distance: float


def calibrations(marks: Iterable[BlindMark], *, seed: int = 0) -> list[Calibration]:
    """Every judge against people in every dimension with a mark, sorted by model and dimension."""
    groups: dict[tuple[str, str], list[BlindMark]] = {}
    for one in _told(marks):
        groups.setdefault((one.model, one.dimension), []).append(one)
    return [_calibration(*key, groups[key], seed) for key in sorted(groups)]


def wrong_propositions(marks: Iterable[BlindMark], *, fewest: int = 3) -> list[WrongProposition]:
    """The propositions with at least ``fewest`` marks, those first that the judge gets most wrong."""
    groups: dict[tuple[str, str, str], list[BlindMark]] = {}
    for one in _told(marks):
        groups.setdefault((one.model, one.dimension, one.proposition_id), []).append(one)
    found = []
    for (model, dimension, proposition_id), own in groups.items():
        if len(own) >= fewest:
            apart = [one.judge_mark - (one.mark or 0) for one in own]
            bias, distance = fmean(apart), fmean(map(abs, apart))
            found.append(WrongProposition(model, dimension, proposition_id, own[-1].claim, len(own), bias, distance))
    return sorted(found, key=lambda one: (-one.distance, one.model, one.dimension, one.proposition_id))


def calibration_words(counts: MarkCounts, models: Collection[str], dimensions: Iterable[str]) -> str:
    """Whether scores of these judges can be trusted, for every place that shows them; empty where nobody judged.

    Dimensions that a plug-in's function computes are left out.

    Args:
        counts: As ``CalibrationMarks.counts`` gives them.
        models: Who judged.
        dimensions: Those that have a score.
    """
    scored = set(dimensions)
    shown = [each for each in LABELS if each in scored and not is_computed(each)]
    told = []
    for model in sorted(models):
        few = [each for each in shown if counts.get((model, each), 0) < FEWEST_MARKS]
        if few:
            listed = ", ".join(f"{LABELS[each]} {counts.get((model, each), 0)}" for each in few)
            told.append(
                f"Not calibrated: people marked too few judgements of {model} blind ({listed}; {FEWEST_MARKS} each are "
                "needed)."
            )
        elif shown:
            told.append(
                f"Calibrated: people marked at least {FEWEST_MARKS} judgements of {model} blind in each dimension."
            )
    return " ".join(told)


def _told(marks: Iterable[BlindMark]) -> list[BlindMark]:
    return [one for one in marks if one.mark is not None]


def _calibration(model: str, dimension: str, own: Sequence[BlindMark], seed: int) -> Calibration:
    keys = list(dict.fromkeys(one.judgement_key for one in own))
    places = {key: place for place, key in enumerate(keys)}
    item = np.asarray([places[one.judgement_key] for one in own])
    judge = np.asarray([float(one.judge_mark) for one in own])
    people = np.asarray([float(one.mark or 0) for one in own])
    sums = moments_per_game(judge, people, item, len(keys))
    near = np.zeros((len(keys), 2))
    np.add.at(near, item, np.stack([np.abs(judge - people) <= 1, np.ones_like(judge)], axis=-1))
    kappa, correlation, bias, close = figures(
        [(kappa_of, sums), (correlation_of, sums), (bias_of, sums), (share_of, near)], seed=seed
    )
    commonest = np.bincount(people.astype(int)).argmax()
    ceiling, shared = _ceiling(own)
    return Calibration(
        model,
        dimension,
        marks=len(own),
        judgements=len(keys),
        kappa=kappa,
        correlation=correlation,
        bias=bias,
        close=close,
        floor_close=float((np.abs(people - commonest) <= 1).mean()),
        ceiling_kappa=ceiling,
        ceiling_judgements=shared,
    )


def _ceiling(own: Sequence[BlindMark]) -> tuple[float, int]:
    """Kappa over all pairs of people of one judgement, both ways, and how many judgements have such a pair."""
    by_key: dict[str, list[float]] = {}
    for one in own:
        by_key.setdefault(one.judgement_key, []).append(float(one.mark or 0))
    pairs = [
        (first, second)
        for marks in by_key.values()
        for at, first in enumerate(marks)
        for other, second in enumerate(marks)
        if at != other
    ]
    if not pairs:
        return math.nan, 0
    x, y = np.asarray(pairs).T
    return float(kappa_of(moments(x, y).sum(axis=0))), sum(len(marks) > 1 for marks in by_key.values())
