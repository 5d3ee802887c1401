"""Agreement: the published vector, the reference packages, and what missing ratings do."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike

from evaluation.agreement.between_raters import (
    Level,
    ac1_of,
    alpha_of,
    coincidences,
)
from evaluation.statistics.intervals import bootstrap_interval, percentile_interval

NAN = math.nan
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": four observers, twelve units, missing cells.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
LEVELS: tuple[Level, ...] = ("nominal", "ordinal")
tables = arrays(float, (4, 8), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NAN]))


def value_counts(ratings: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Items x values, and the values: how often each item of raters x items was given each value."""
    table = np.asarray(ratings, dtype=float)
    values = np.unique(table[~np.isnan(table)])
    counts = np.stack([(table == value).sum(axis=0) for value in values], axis=-1) if len(values) else np.zeros((0, 0))
    return counts.astype(float), values


def krippendorff_alpha(ratings: ArrayLike, level: Level = "nominal") -> float:
    counts, values = value_counts(ratings)
    return float(alpha_of(coincidences(counts), values, level))


def gwet_ac1(ratings: ArrayLike, categories: int | None = None) -> float:
    counts, values = value_counts(ratings)
    return float(ac1_of(counts, categories or len(values)))


@pytest.mark.parametrize(("level", "expected"), list(zip(LEVELS, (0.743, 0.815), strict=True)))
def test_the_published_vector(level, expected: float) -> None:
    assert krippendorff_alpha(PUBLISHED, level=level) == pytest.approx(expected, abs=5e-4)


def test_ac1_of_the_same_ratings_as_published() -> None:
    # Gwet, Handbook of Inter-Rater Reliability (2014), and the package irrCAC: 0.77544.
    assert gwet_ac1(PUBLISHED) == pytest.approx(0.77544, abs=5e-6)


@given(tables, st.sampled_from(LEVELS))
def test_alpha_equals_the_reference_package(table: np.ndarray, level) -> None:
    pairable = (~np.isnan(table)).sum(axis=0) >= 2
    assume(len(np.unique(table[:, pairable][~np.isnan(table[:, pairable])])) > 1)
    expected = krippendorff.alpha(table, level_of_measurement=level)
    assert krippendorff_alpha(table, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "table", [[[1, 1], [1, 1]], [[1, NAN], [NAN, 2]], [[1, 2, 3]], np.empty((0, 0)), [[NAN], [NAN]]]
)
def test_where_no_disagreement_was_possible_alpha_is_not_defined(table) -> None:
    for level in LEVELS:
        assert math.isnan(krippendorff_alpha(table, level))


def test_ac1_does_not_collapse_when_nearly_all_say_yes() -> None:
    # 19 games both yes, one split: p_a = 0.95, yes share 39/40, p_e = 2 * 39/40 * 1/40 = 0.04875.
    # AC1 = (0.95 - 0.04875) / 0.95125 = 0.9474; nominal alpha of the same is below zero.
    ratings = np.ones((2, 20))
    ratings[1, 0] = 0
    assert gwet_ac1(ratings) == pytest.approx(0.94744, abs=1e-5)
    assert krippendorff_alpha(ratings) < 0.01
    assert math.isnan(gwet_ac1(np.ones((2, 20))))
    assert gwet_ac1(np.ones((2, 20)), categories=2) == pytest.approx(1.0)


def test_resampled_figures_with_every_game_once_are_the_figures_themselves() -> None:
    counts, values = value_counts(PUBLISHED)
    once = np.ones((1, 12))
    for level in LEVELS:
        alpha = krippendorff_alpha(PUBLISHED, level)
        assert alpha_of(coincidences(counts, once), values, level)[0] == pytest.approx(alpha)
    assert ac1_of(counts, 5, once)[0] == pytest.approx(gwet_ac1(PUBLISHED))


def test_intervals_over_games_are_seeded_and_hold_the_figure() -> None:
    counts, values = value_counts(PUBLISHED)

    def alphas(weights: np.ndarray) -> np.ndarray:
        return alpha_of(coincidences(counts, weights), values, "ordinal")

    found = bootstrap_interval(alphas, 12, seed=1)
    assert found == bootstrap_interval(alphas, 12, seed=1)
    assert found.low < 0.815 < found.high
    assert bootstrap_interval(alphas, 2).note == "fewer than three games have no interval"
    assert bootstrap_interval(lambda weights: np.full(len(weights), NAN), 12).note == "not defined in most resamples"


def test_what_is_the_same_in_every_resample_has_no_interval() -> None:
    # Of a thousand resamples 400 are not defined and the others are 1, but for noise: no width is no interval.
    same = np.where(np.arange(1000) < 400, NAN, 1.0 + 1e-15 * np.arange(1000))
    found = percentile_interval(same, 50)
    assert (found.low, found.high, found.note) == (None, None, "none, all values equal")
    # 30 of 1,000 below leave the lower quantile at the 25th of them: that is an interval, up to 1.
    below = np.where(np.arange(1000) < 30, 0.5, 1.0)
    assert (percentile_interval(below, 50).low, percentile_interval(below, 50).high) == (0.5, 1.0)
    assert percentile_interval(below, 50).note == ""
    assert "fewer than 20 games" in percentile_interval(below, 19).note
