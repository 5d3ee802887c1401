"""Comparing two sets of games: the outcome, the words, and what few games cannot say."""

from __future__ import annotations

import math

import pytest

from evaluation.statistics.comparison import Measure, Outcome, compare
from evaluation.statistics.words import difference_cells, difference_sentences, evidence_words, paired_p_words

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
    assert "5 games on each side would show it (2 more before and 2 more after)." in said
    assert "With 3 pairs an exact p cannot be below 0.25, whatever happened in them; 6 pairs could reach 0.031." in said


def test_a_difference_is_that_of_the_values_and_halves_are_rounded_up() -> None:
    # 3.1667 and 4.25: the difference is 1.0833, not that of 3.2 and 4.2.
    found = compare({"engagement": Measure([3.0, 3.0, 3.5], [4.0, 4.5])})["engagement"]
    cells = difference_cells(found)
    assert (cells["Before"], cells["After"], cells["Difference"]) == ("3.2 (3)", "4.3 (2)", "+1.1")
    fell = compare({"depth": Measure([98.6, 98.5, 98.4], [87.7, 87.8, 87.6], unit="%")})["depth"]
    assert difference_cells(fell)["Difference"] == "\u221210.8 points"


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
    words = "Depth +11.7 points, better beyond luck; 1 on low evidence; 1 could be luck"
    assert evidence_words(found.values(), labels) == words
    assert evidence_words([found["roles"]], labels) == "all 1 could be luck"
    said = difference_sentences(found["memory"])
    assert "Rests on low evidence, so nothing is concluded. Welch p" in said[1]
    assert said[2] == "All games after score the same, so the test knows no spread but that of the games before."


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


def test_a_difference_has_one_interval_in_cells_and_sentences() -> None:
    samples = {name: Measure([10, 20, 31], [30, 42, 50 + more], (), PERCENT, "%") for more, name in enumerate("abc")}
    for one in compare(samples).values():
        interval, level = difference_cells(one)["Interval"].removesuffix(")").split(" (")
        assert f"{level} interval {interval}" in difference_sentences(one)[0]
        assert level != "95 %"
