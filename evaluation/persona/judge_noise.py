"""Measure how much a judge's answers to the same question differ, from repeats of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

from evaluation.judging.propositions.proposition import HIGHEST_SCORE, Dimension
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.persona.results import DimensionScore
from evaluation.statistics import Interval, mean_interval
from evaluation.statistics.words import interval_words


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """The spread of a judge's answers to the same questions.

    Attributes:
        questions: Questions (a proposition about a message or trajectory) with at least two scored repeats.
        sd: Standard deviation of one answer around the mean of its question's repeats, in points; NaN without
            questions.
        share: The share of the variance of single answers that is the judge's own, 0 to 1: what is left lies between
            questions. NaN without two questions, or where all answers are equal.
    """

    questions: int
    sd: float
    share: float


@dataclass(frozen=True, slots=True)
class DimensionNoise:
    """The noise in one dimension of one agent.

    Attributes:
        score: The mean over all repeats.
        interval: Of that mean, over the scores of the repeats.
        propositions: Noise by proposition, the noisiest first.
    """

    dimension: Dimension
    score: float | None
    repeats: tuple[float, ...]
    interval: Interval
    noise: JudgeNoise
    propositions: tuple[tuple[str, JudgeNoise], ...]


def judge_noise(items: Iterable[PropositionScore]) -> JudgeNoise:
    """The noise in answers; marked nines and answers without a score are left out.

    The variance within questions is their mean variance (n - 1 in the denominator); that between questions is the
    variance of their means, less the part that the noise contributes to it (one-way random effects).
    """
    groups = _groups(items)
    if not groups:
        return JudgeNoise(0, math.nan, math.nan)
    within = fmean(variance(group) for group in groups)
    share = math.nan
    if len(groups) > 1:
        usual = len(groups) / sum(1 / len(group) for group in groups)
        between = max(0.0, variance(fmean(group) for group in groups) - within / usual)
        share = within / (within + between) if within + between > 0 else math.nan
    return JudgeNoise(len(groups), math.sqrt(within), share)


def noise_words(repeats: Sequence[float], dimension: Dimension, share: float | None) -> str:
    """The judge's noise beside a score: "5 repeats: 6.8 to 7.4; 12 % of the variance is the judge's own"."""
    if len(repeats) < 2:
        return ""
    words = f"{len(repeats)} repeats: {interval_words(noise_interval(repeats, dimension), digits=1)}"
    return words if share is None else f"{words}; {share:.0%} of the variance is the judge's own".replace("%", " %")


def as_dict(found: DimensionNoise) -> dict[str, Any]:
    """A dimension's noise, ready for JSON; what is not known is ``None``."""
    return {
        "score": found.score,
        "repeats": list(found.repeats),
        "interval": found.interval.as_dict(),
        **_noise_dict(found.noise),
        "propositions": {key: _noise_dict(one) for key, one in found.propositions},
    }


def _noise_dict(noise: JudgeNoise) -> dict[str, Any]:
    known = {name: None if math.isnan(value) else value for name, value in (("sd", noise.sd), ("share", noise.share))}
    return {"questions": noise.questions, **known}


def _groups(items: Iterable[PropositionScore]) -> list[list[float]]:
    found: dict[tuple[Any, ...], list[float]] = {}
    for item in items:
        if item.is_earned and item.score is not None:
            # Questions about whole trajectories have no reference: what was asked tells them apart.
            asked = item.judgement.asked if item.judgement else None
            found.setdefault((item.proposition.id, item.reference, item.claim, asked), []).append(item.score)
    return [group for group in found.values() if len(group) > 1]


def dimension_noise(score: DimensionScore) -> DimensionNoise:
    """The noise in a dimension, and in each of its propositions."""
    by_id: dict[str, list[PropositionScore]] = {}
    for item in score.items:
        by_id.setdefault(item.proposition.id, []).append(item)
    each = [(key, judge_noise(own)) for key, own in by_id.items()]
    known = sorted((one for one in each if one[1].questions), key=lambda one: -one[1].sd)
    return DimensionNoise(
        score.dimension,
        score.score,
        score.repeats,
        noise_interval(score.repeats, score.dimension),
        judge_noise(score.items),
        tuple(known),
    )


def noise_interval(repeats: Sequence[float], dimension: Dimension) -> Interval:
    """The interval of a dimension's mean over the repeats of its questions; none for fewer than two."""
    limits = None if dimension is Dimension.IDEAS_QUANTITY else (0.0, float(HIGHEST_SCORE))
    return mean_interval(repeats, limits=limits)
