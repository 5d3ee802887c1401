"""Compare rules or a judge with raters, per metric and item, between the floor and the human ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.agreement._items import ITEMS, Figure, Item, RatingTable, figures, moments_per_game, share_of
from evaluation.statistics.agreement import Numbers, bias_of, correlation_of, kappa_of, ranks

Ceiling = tuple[int, float, float, float]


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """A metric's answers about the games.

    Attributes:
        label: In our own words.
        scores: In percent, by transcript id.
        passes: Whether each of them reaches its threshold.
    """

    name: str
    label: str
    scores: Mapping[str, float]
    passes: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ReferenceAgreement:
    """One metric against one item, over the games that have both; every rating is a pair with the metric.

    For the 1-5 score a metric's 0 to 100 % are laid on 1 to 5, rounded for kappa and exact agreement. For a question
    "passed" stands for yes. No metric claims to measure engagement: this shows which of them tracks what people feel.

    Attributes:
        kappa: Quadratic-weighted.
        spearman: Of ranks over all pairs.
        bias: Mean of metric minus rating, on the item's scale.
        exact: Share of pairs with the same value.
        ceiling_kappa: Kappa between two raters of the same games: what a metric can hope for. NaN without two raters.
        ceiling_spearman: The same for ranks.
        ceiling_exact: The same for equal values.
        floor_exact: What always the commonest answer would reach; its kappa is 0.
    """

    reference: str
    label: str
    item: Item
    games: int
    ratings: int
    kappa: Figure
    spearman: Figure
    bias: Figure
    exact: Figure
    ceiling_games: int
    ceiling_kappa: float
    ceiling_spearman: float
    ceiling_exact: float
    floor_exact: float


def reference_agreements(
    table: RatingTable, references: Mapping[str, MetricAnswers], *, seed: int = 0
) -> tuple[ReferenceAgreement, ...]:
    """Every reference against every item, references in the order given."""
    ceilings: dict[tuple[str, bytes], Ceiling] = {}
    return tuple(_agreement(table, one, item, ceilings, seed) for one in references.values() for item in ITEMS)


def _agreement(
    table: RatingTable, reference: MetricAnswers, item: Item, ceilings: dict[tuple[str, bytes], Ceiling], seed: int
) -> ReferenceAgreement:
    score = np.asarray([reference.scores.get(key, math.nan) for key in table.transcripts])
    if item.is_score:
        fine = item.values[0] + score / 100.0 * (item.values[-1] - item.values[0])
        coarse = np.floor(fine + 0.5)
    else:
        fine = score
        coarse = np.asarray([float(reference.passes.get(key, False)) for key in table.transcripts])
    answers = table.answers[item.name]
    rater, column = np.nonzero(~np.isnan(answers) & ~np.isnan(score))
    rated = answers[rater, column]
    kept, game = np.unique(column, return_inverse=True)
    said = coarse[column]
    sums = moments_per_game(said, rated, game, len(kept))
    ranked = moments_per_game(_ranks(fine[column]), _ranks(rated), game, len(kept))
    plain = moments_per_game(fine[column], rated, game, len(kept)) if item.is_score else sums
    equal = np.zeros((len(kept), 2))
    np.add.at(equal, game, np.stack([said == rated, np.ones_like(rated)], axis=-1))
    kappa, rank, bias, exact = figures(
        [(kappa_of, sums), (correlation_of, ranked), (bias_of, plain), (share_of, equal)], seed=seed
    )
    # Most metrics have a score for the same games, so their ceiling is the same.
    key = item.name, kept.tobytes()
    if key not in ceilings:
        ceilings[key] = _ceiling(answers[:, kept])
    ceiling = ceilings[key]
    return ReferenceAgreement(
        reference.name,
        reference.label,
        item,
        games=len(kept),
        ratings=len(rated),
        kappa=kappa,
        spearman=rank,
        bias=bias,
        exact=exact,
        ceiling_games=ceiling[0],
        ceiling_kappa=ceiling[1],
        ceiling_spearman=ceiling[2],
        ceiling_exact=ceiling[3],
        floor_exact=float(np.unique(rated, return_counts=True)[1].max() / len(rated)) if len(rated) else math.nan,
    )


def _ranks(values: Numbers) -> Numbers:
    """Ranks with ties shared. A resample keeps them, which costs a little exactness and saves a hundred sorts."""
    return ranks(values) if len(values) else values


def _ceiling(answers: Numbers) -> Ceiling:
    """Games with two raters, and kappa, rank correlation and exact agreement over all pairs of raters, both ways."""
    there = ~np.isnan(answers)
    first, second = [], []
    for one in range(len(answers)):
        for other in range(len(answers)):
            both = there[one] & there[other]
            if one != other and both.any():
                first.append(answers[one, both])
                second.append(answers[other, both])
    games = int((there.sum(axis=0) >= 2).sum())
    if not games:
        return 0, math.nan, math.nan, math.nan
    x, y = np.concatenate(first), np.concatenate(second)
    zero = np.zeros(len(x), dtype=int)
    kappa = float(kappa_of(moments_per_game(x, y, zero, 1)[0]))
    rank = float(correlation_of(moments_per_game(ranks(x), ranks(y), zero, 1)[0]))
    return games, kappa, rank, float((x == y).mean())
