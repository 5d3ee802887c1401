"""Intervals: right where they can be computed, honest where they cannot, and equal to the reference packages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from evaluation.statistics.intervals import difference_interval, expanded_level, mean_interval, proportion_interval

scores = st.lists(st.floats(0, 100).map(lambda x: round(x, 2)), min_size=2, max_size=40)


@given(st.lists(st.floats(0, 100).map(lambda x: round(x, 2)), min_size=2, max_size=19))
def test_t_equals_statsmodels(values: list[float]) -> None:
    found = mean_interval(values)
    if found.is_known:
        assert (found.low, found.high) == pytest.approx(DescrStatsW(values).tconfint_mean(), rel=1e-6, abs=1e-6)


def test_bca_from_twenty_games_on_equals_scipy_at_the_expanded_level() -> None:
    sample = np.random.default_rng(1).beta(8, 2, 20) * 100
    # sqrt(20 / 19) * 2.093024 = 2.147396, and the normal holds 96.824 % within 2.147396 deviations.
    level = expanded_level(0.95, 20)
    assert level == pytest.approx(0.96824, abs=1e-5)
    found = stats.bootstrap((sample,), np.mean, n_resamples=2000, confidence_level=level, rng=np.random.default_rng(0))
    expected = found.confidence_interval
    found = mean_interval(sample)
    assert found.method == "BCa"
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert mean_interval(sample[:19]).method == "t"


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([], "no values"),
        ([70.0], "one value has no interval"),
        ([70.0, 70.0, 70.0], "none, all values equal"),
        ([0.3, 0.1 + 0.2], "none, all values equal"),
        ([math.nan, 70.0], "one value has no interval"),
    ],
)
def test_without_spread_there_is_no_interval_but_a_reason(values: list[float], note: str) -> None:
    found = mean_interval(values)
    assert (found.low, found.high, found.note) == (None, None, note)
    assert not found.is_known


def test_limits_of_the_scale_clip() -> None:
    found = mean_interval([96.0, 98.0, 100.0], limits=(0, 100))
    # 98 +- 4.302653 * 2 / sqrt(3) = 98 +- 4.9683.
    assert found.low == pytest.approx(93.0317, abs=1e-4)
    assert found.high == 100


def test_infinity_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        mean_interval([1.0, math.inf])


@given(scores, scores)
def test_welch_difference_equals_statsmodels(after: list[float], before: list[float]) -> None:
    found = difference_interval(after, before)
    if np.ptp(after) + np.ptp(before) == 0:
        assert found.note == "none, all values equal"
    else:
        expected = CompareMeans(DescrStatsW(after), DescrStatsW(before)).tconfint_diff(usevar="unequal")
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_equals_statsmodels(successes: int, failures: int) -> None:
    trials = successes + failures
    found = proportion_interval(successes, trials)
    if trials:
        expected = proportion_confint(successes, trials, method="wilson")
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    else:
        assert found.note == "no values"


def test_an_interval_inside_one_game_is_marked_as_such() -> None:
    assert "one game" in proportion_interval(17, 20, is_within_game=True).note
    with pytest.raises(ValueError, match="3 successes in 2"):
        proportion_interval(3, 2)
