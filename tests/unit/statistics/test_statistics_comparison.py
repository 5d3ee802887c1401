"""Statistics beside reference packages: tests, intervals, and the comparison of two groups."""

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
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from evaluation.statistics.comparison import Measure, Outcome, cohens_d, compare, holm
from evaluation.statistics.intervals import difference_interval, expanded_level, mean_interval, proportion_interval
from evaluation.statistics.significance import (
    clustered_difference,
    games_needed,
    minimum_detectable_difference,
    sign_flip,
    smallest_p,
    welch,
)
from evaluation.statistics.words import change_of, difference_sentences, evidence_words, interval_words, paired_p_words

scores = st.lists(st.floats(0, 100).map(lambda x: round(x, 2)), min_size=2, max_size=40)


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
    assert holm(p_values, 0.05)[0] == pytest.approx(list(multipletests(p_values, method="holm")[1]))


families = st.lists(st.floats(0, 1) | st.sampled_from([math.nan, 0.0, 0.01, 0.0125, 0.025, 0.05, 1.0]), max_size=12)


@given(families)
def test_holm_goes_step_by_step_and_an_interval_has_the_level_that_decided(p_values: list[float]) -> None:
    adjusted, levels = list(p_values), list(p_values)
    ranked = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    highest, first_kept = 0.0, 0.0
    for left, (p, place) in zip(range(len(ranked), 0, -1), ranked, strict=True):
        highest, step = max(highest, p * left), 0.05 / left
        adjusted[place] = min(1.0, highest)
        first_kept = first_kept or step * (p > step)
        levels[place] = first_kept or step
    # To the last bit, and NaN where no test was possible.
    assert list(map(repr, holm(p_values, 0.05))) == list(map(repr, (adjusted, levels)))


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
    assert games_needed(0.0054062, 0.0, 0.5681243) is not None, "between 65,536 and 100,000"
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


PERCENT = (0.0, 100.0)


def test_a_difference_that_three_games_cannot_show() -> None:
    measure = Measure([50, 55, 60], [61, 70, 65], [(50, 61), (55, 70), (60, 65)], PERCENT, "%")
    (found,) = compare({"depth": measure}).values()
    # Means 55 and 65.33; sds 5 and 4.509; pairs differ by 11, 15 and 5.
    assert found.difference == pytest.approx(10.3333, abs=1e-4)
    assert (found.before.sd, found.after.sd) == pytest.approx((5.0, 4.5092), abs=1e-4)
    assert found.outcome is Outcome.NO_EVIDENCE
    assert (found.paired.sign_flip.p, found.paired.smallest_p) == (0.25, 0.25)
    said = " ".join(difference_sentences(found))
    assert "From 55.0 % (3 games) to 65.3 % (3 games): +10.3 points, 95 % interval \u22120.5 to +21.2." in said
    assert "Could be luck. Welch p 0.057" in said
    assert "With 3 games on each side, only a true difference of 14.7 points or more" in said
    assert "5 games on each side would show it (2 more on each side)." in said
    assert "With 3 pairs an exact p cannot be below 0.25, whatever happened in them; 6 pairs could reach 0.031." in said


def test_a_difference_is_that_of_the_values_as_they_are_shown_and_halves_are_rounded_up() -> None:
    # 3.1667 and 4.25: not that of 3.2 and 4.2.
    found = compare({"engagement": Measure([3.0, 3.0, 3.5], [4.0, 4.5])})["engagement"]
    assert change_of(found) == "+1.1"
    fell = compare({"depth": Measure([93.88, 93.88], [3.44, 3.44], unit="%")})["depth"]
    assert change_of(fell) == "\u221290.5 points"


def test_a_test_whose_sides_rest_on_too_little_concludes_nothing() -> None:
    high, low = [100.0, 100.0, 100.0], [87.0, 88.0, 90.0]
    measures = {
        "memory": Measure(low, high, limits=PERCENT, unit="%", is_low_evidence=True),
        "depth": Measure(low, high, limits=PERCENT, unit="%"),
        "roles": Measure([50, 60, 70], [52, 61, 69], limits=PERCENT, unit="%", is_low_evidence=True),
    }
    found = compare(measures)
    assert [one.outcome for one in found.values()] == [Outcome.LOW_EVIDENCE, Outcome.BETTER, Outcome.NO_EVIDENCE]
    labels = {"memory": "Memory", "depth": "Depth", "roles": "Roles"}
    words = "Better than v1 on Depth (+11.7 points), beyond luck"
    assert evidence_words(found.values(), labels, "v1") == words
    worse = compare({"depth": Measure(high, low, limits=PERCENT, unit="%")})["depth"]
    assert evidence_words([worse], labels, "v1") == "Worse than v1 on Depth (\u221211.7 points), beyond luck"
    both = "Better than v1 on Depth (+11.7 points), worse on Depth (\u221211.7 points), beyond luck"
    assert evidence_words([found["depth"], worse], labels, "v1") == both
    # Neither low evidence nor luck shows anything; the measure that is tested alone says which it is.
    unshown = "Not shown to be better or worse than v1"
    assert evidence_words([found["roles"], found["memory"]], labels, "v1") == unshown
    alone = compare({"roles": measures["roles"]}, primary="roles")["roles"]
    assert evidence_words([alone], labels, "v1") == f"{unshown}. Roles +0.7 points, could be luck"
    # More games would not do for scores that rest on too little, or are at chance.
    by_luck = compare({"depth": Measure(low, [88.0, 91.0, 95.0], limits=PERCENT, at_chance=(True, True))})["depth"]
    assert [found["memory"].games_needed, by_luck.games_needed] == [None, None]
    # The side that seems better decides, whichever way the two are compared.
    for chance, outcome in (((False, True), Outcome.AT_CHANCE), ((True, False), Outcome.BETTER)):
        up, down = Measure(low, high, at_chance=chance), Measure(high, low, at_chance=chance[::-1])
        assert compare({"up": up}, primary="up")["up"].outcome is outcome
        back = compare({"down": down}, primary="down")["down"].outcome
        assert back is {Outcome.BETTER: Outcome.WORSE}.get(outcome, outcome)
    assert found["depth"].games_needed is not None
    said = difference_sentences(found["memory"])
    assert "Rests on low evidence, so nothing is concluded. Welch p" in said[1]
    assert said[2] == "All games of one side score the same, so the test knows no spread but that of the other."


def test_one_pair_and_more_pairs_than_are_counted_are_called_what_they_are() -> None:
    one = compare({"depth": Measure([50, 55], [61, 70], [(50, 61)], PERCENT, "%")})["depth"]
    said = " ".join(difference_sentences(one))
    assert "1 pair of games shares a scenario or seed: +11.0 points on average, exact p 1.000." in said
    assert "With 1 pair an exact p cannot be below 1, whatever happened in it; 6 pairs could reach 0.031." in said
    # Every pair is one higher. Of 2^16 patterns only the two with equal signs are as far: 2 / 65,536 < 0.001. Of 2^17
    # no more than 65,536 are drawn, so that p is no longer exact.
    for pairs, words, cell in ((16, "exact p <0.001.", "<0.001"), (17, "sign-flip p <0.001, from", "<0.001 (drawn)")):
        before = [float(number) for number in range(pairs)]
        after = [number + 1 for number in before]
        found = compare({"depth": Measure(before, after, list(zip(before, after, strict=True)))})["depth"]
        assert words in " ".join(difference_sentences(found))
        assert paired_p_words(found.paired) == cell
    assert paired_p_words(None) == ""


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ([10, 11, 12, 13], [50, 51, 52, 53], Outcome.BETTER),
        ([50, 51, 52, 53], [10, 11, 12, 13], Outcome.WORSE),
        ([50, 50, 50], [50, 50, 50], Outcome.UNTESTABLE),
        ([50], [60, 70], Outcome.UNTESTABLE),
        ([math.nan, 50, 60], [55, math.nan], Outcome.UNTESTABLE),
        ([], [], Outcome.UNTESTABLE),
    ],
)
def test_outcomes(before: list[float], after: list[float], outcome: Outcome) -> None:
    found = compare({"metric": Measure(before, after, limits=PERCENT)})["metric"]
    assert found.outcome is outcome
    assert all(sentence.endswith(".") for sentence in difference_sentences(found))


def test_holm_runs_over_the_metrics_that_can_be_tested() -> None:
    clear = Measure([10, 11, 12], [15, 16, 17])
    alone = compare({"clear": clear})["clear"]
    family = compare({"clear": clear, "flat": Measure([1, 1], [1, 1]), "noise": Measure([1, 2, 3], [1, 2, 3])})
    assert alone.p_holm == alone.welch.p
    # Two of three can be tested, so the smaller p counts twice.
    assert family["clear"].p_holm == pytest.approx(2 * alone.welch.p)
    assert math.isnan(family["flat"].p_holm)
    assert "no spread was seen on either side" in " ".join(difference_sentences(family["flat"]))


def test_intervals_stay_within_what_the_scale_allows() -> None:
    found = compare({"m": Measure([0, 1], [99, 100], [(0, 99), (1, 100)], PERCENT)})["m"]
    assert found.interval.high == 100
    assert found.before.interval.low == 0


def test_a_sentence_has_the_interval_at_the_level_that_decided() -> None:
    samples = {name: Measure([10, 20, 31], [30, 42, 50 + more], (), PERCENT, "%") for more, name in enumerate("abc")}
    for one in compare(samples).values():
        interval = interval_words(one.deciding_interval, signed=True)
        assert f" % interval {interval}." in difference_sentences(one)[0]
        assert "95 % interval" not in difference_sentences(one)[0]
