"""Tests of differences, effect sizes, Holm and power, beside scipy, statsmodels and pingouin."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS, add_constant
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower

from evaluation.statistics.comparison import cohens_d, holm
from evaluation.statistics.tests import (
    clustered_difference,
    games_needed,
    minimum_detectable_difference,
    sign_flip,
    smallest_p,
    welch,
)

scores = st.lists(st.floats(0, 100).map(lambda x: round(x, 2)), min_size=2, max_size=30)


@given(scores, scores)
def test_welch_and_d_equal_pingouin_and_share_their_sign(after: list[float], before: list[float]) -> None:
    test, effect = welch(after, before), cohens_d(after, before)
    if np.ptp(after) + np.ptp(before) == 0:
        assert test.reason == effect.reason == "no spread seen"
        assert math.isnan(test.p)
        assert math.isnan(effect.value)
        return
    with warnings.catch_warnings():
        # scipy warns where one side has no spread.
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = stats.ttest_ind(after, before, equal_var=False)
    assert (test.statistic, test.p, test.freedom) == pytest.approx(
        (expected.statistic, expected.pvalue, expected.df), nan_ok=True
    )
    assert effect.value == pytest.approx(pingouin.compute_effsize(after, before, eftype="cohen"))
    assert np.sign(test.statistic) == np.sign(effect.value)


def test_d_by_hand() -> None:
    # Means 65 and 55; variances 25 and 25 over 3 games each: pooled sd 5, so d = 10 / 5.
    assert cohens_d([60, 65, 70], [50, 55, 60]).value == pytest.approx(2.0)
    assert cohens_d([50, 55, 60], [60, 65, 70]).value == pytest.approx(-2.0)


def test_pairs_with_a_missing_value_are_left_out() -> None:
    after, before = [5.0, 6.0, math.nan, 9.0], [4.0, 4.0, 3.0, 6.0]
    assert sign_flip(after, before) == sign_flip([5.0, 6.0, 9.0], [4.0, 4.0, 6.0])
    with pytest.raises(ValueError, match="cannot be paired"):
        sign_flip([1.0], [1.0, 2.0])


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_sign_flips_are_counted_exactly(differences: list[int]) -> None:
    mean = abs(np.mean(differences))
    patterns = list(itertools.product((1, -1), repeat=len(differences)))
    as_far = sum(abs(np.mean(np.multiply(signs, differences))) >= mean - 1e-12 for signs in patterns)
    assert sign_flip(differences, [0] * len(differences)).p == pytest.approx(as_far / len(patterns))


def test_three_pairs_cannot_show_anything() -> None:
    # All three went up, by however much: 2 of the 8 sign patterns are as far from zero.
    assert sign_flip([90, 90, 90], [10, 20, 5]).p == 0.25 == smallest_p(3)
    assert smallest_p(6) == pytest.approx(0.03125)


def test_many_pairs_are_drawn_with_a_seed() -> None:
    generator = np.random.default_rng(5)
    after, before = generator.normal(0.3, 1, 40), generator.normal(0, 1, 40)
    first = sign_flip(after, before, seed=1)
    assert first == sign_flip(after, before, seed=1)
    assert first.p == pytest.approx(stats.ttest_rel(after, before).pvalue, abs=0.01)


@pytest.mark.parametrize("count", [2, 40])
def test_holm_equals_statsmodels(count: int) -> None:
    p_values = list(np.random.default_rng(count).beta(0.3, 1.0, count))
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize("games", [3, 6, 20, 100])
def test_the_detectable_difference_equals_statsmodels(games: int) -> None:
    expected = TTestIndPower().solve_power(nobs1=games, alpha=0.05, power=0.8)
    assert minimum_detectable_difference(7.0, 7.0, games, games) == pytest.approx(7.0 * expected, rel=1e-4)


def test_how_many_games_a_difference_takes() -> None:
    # TTestIndPower asks for 63.77 games on each side for half a standard deviation.
    assert games_needed(-5.0, 10.0, 10.0) == 64
    assert games_needed(0.0, 10.0, 10.0) is None
    assert games_needed(5.0, 0.0, 0.0) is None
    assert games_needed(1e-6, 10.0, 10.0) is None
    assert math.isnan(minimum_detectable_difference(math.nan, 1.0, 3, 3))


def test_cluster_robust_p_equals_statsmodels() -> None:
    generator = np.random.default_rng(7)
    people = np.repeat(np.arange(12), 8)
    own = generator.normal(0, 1, 12)[people]
    after, before = own + generator.normal(0.4, 1, 96), own + generator.normal(0, 1, 96)
    found = clustered_difference(list(after), list(before), list(people), list(people))
    design = add_constant(np.repeat([1.0, 0.0], 96))
    fitted = OLS(np.concatenate([after, before]), design).fit(
        cov_type="cluster", cov_kwds={"groups": np.concatenate([people, people])}, use_t=True
    )
    assert found.statistic == pytest.approx(fitted.tvalues[1])
    assert found.p == pytest.approx(fitted.pvalues[1])
    assert found.freedom == 11


def test_clusters_that_cannot_be_tested() -> None:
    assert math.isnan(clustered_difference([1.0, 2.0], [3.0], ["a", "a"], ["a"]).p)
    assert clustered_difference([1.0, 1.0], [1.0, 1.0], "ab", "ab").reason == "no spread seen"
    with pytest.raises(ValueError, match="cluster"):
        clustered_difference([1.0], [1.0], [], ["a"])
