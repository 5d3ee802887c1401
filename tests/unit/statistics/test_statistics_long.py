"""Simulations with known truth, for ``make test-long``: do intervals cover, and does Holm hold the error?

Each prints its figures. 2,000 data sets leave a standard error of 0.5 points around 95 %.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from evaluation.statistics.comparison import Measure, Outcome, compare
from evaluation.statistics.intervals import difference_interval, mean_interval, proportion_interval

pytestmark = pytest.mark.long

DATA_SETS = 2000
SIZES = (3, 6, 20)

Draw = Callable[[np.random.Generator, int], np.ndarray]


def _normal(generator: np.random.Generator, games: int) -> np.ndarray:
    return generator.normal(70, 8, games)


def _skewed(generator: np.random.Generator, games: int) -> np.ndarray:
    # Mean 80, standard deviation about 12: most games near the top, a tail below.
    return 100 * generator.beta(8, 2, games)


def _ratings(generator: np.random.Generator, games: int) -> np.ndarray:
    # Means of three raters on 1 to 5.
    return generator.choice([1, 2, 3, 4, 5], p=[0.1, 0.2, 0.4, 0.2, 0.1], size=(games, 3)).mean(axis=1)


def _shares(generator: np.random.Generator, games: int) -> np.ndarray:
    # Percent of 50 messages, games that differ in their true share, mean 70.
    return 2.0 * generator.binomial(50, generator.beta(14, 6, games))


DRAWS: dict[str, tuple[Draw, float]] = {
    "normal": (_normal, 70.0),
    "skewed": (_skewed, 80.0),
    "ratings": (_ratings, 3.0),
    "shares": (_shares, 70.0),
}


# What does not cover 93 to 97 %, and why. Student's t supposes a symmetric spread: six games of a skewed metric show
# too little of its tail (92.4 %).
KNOWN_NARROW = {("skewed", 6): 0.91}
# Between two equally skewed sides the skew cancels, and Welch's few degrees of freedom are cautious (97.6 %).
KNOWN_WIDE = {("skewed", 3): 0.985}


def _coverage(draw: Draw, truth: float, games: int) -> tuple[float, int]:
    """Share of intervals that hold the truth, and how many data sets had none (no spread)."""
    generator = np.random.default_rng([games, 11])
    held = without = 0
    for seed in range(DATA_SETS):
        found = mean_interval(draw(generator, games), seed=seed)
        if found.low is None or found.high is None:
            without += 1
        else:
            held += found.low <= truth <= found.high
    return held / (DATA_SETS - without), without


@pytest.mark.parametrize("games", SIZES)
@pytest.mark.parametrize("kind", DRAWS)
def test_intervals_of_means_cover(kind: str, games: int) -> None:
    draw, truth = DRAWS[kind]
    covered, without = _coverage(draw, truth, games)
    print(f"\nmean of {games:2d} games, {kind:8s}: {100 * covered:.1f} % covered, {without} without an interval")
    assert KNOWN_NARROW.get((kind, games), 0.93) <= covered <= 0.97


@pytest.mark.parametrize("games", SIZES)
@pytest.mark.parametrize("kind", DRAWS)
def test_intervals_of_differences_cover(kind: str, games: int) -> None:
    draw, _ = DRAWS[kind]
    generator = np.random.default_rng([games, 12])
    held = tried = 0
    for _ in range(DATA_SETS):
        found = difference_interval(draw(generator, games) + 5.0, draw(generator, games))
        if found.low is not None and found.high is not None:
            tried += 1
            held += found.low <= 5.0 <= found.high
    print(
        f"\ndifference of {games:2d} games, {kind:8s}: {100 * held / tried:.1f} % covered, {DATA_SETS - tried} without"
    )
    assert 0.93 <= held / tried <= KNOWN_WIDE.get((kind, games), 0.97)


@pytest.mark.parametrize("trials", [10, 50, 200])
def test_wilson_covers(trials: int) -> None:
    generator = np.random.default_rng([trials, 13])
    held = 0
    for share, successes in ((p, generator.binomial(trials, p)) for p in generator.uniform(0.05, 0.95, DATA_SETS)):
        found = proportion_interval(int(successes), trials)
        held += found.low <= share <= found.high
    print(f"\nproportion of {trials} messages: {100 * held / DATA_SETS:.1f} % covered")
    assert 0.93 <= held / DATA_SETS <= 0.97


@pytest.mark.parametrize("games", SIZES)
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_a_comparison_that_has_nothing_to_find_rarely_finds_something(games: int, correlation: float) -> None:
    """Seven metrics, no true difference: how often any of them is called better or worse after Holm."""
    generator = np.random.default_rng([games, int(10 * correlation), 14])
    kinds = [_normal, _skewed, _shares, _normal, _skewed, _shares, _ratings]
    wrong = 0
    for _ in range(DATA_SETS):
        measures = {}
        shared = [generator.normal(0, 8, games) for _ in range(2)]
        for place, draw in enumerate(kinds):
            sides = [draw(generator, games) + correlation * common for common in shared]
            measures[str(place)] = Measure(sides[0], sides[1])
        outcomes = {one.outcome for one in compare(measures).values()}
        wrong += bool(outcomes & {Outcome.BETTER, Outcome.WORSE})
    print(f"\nfamily of 7 metrics, {games:2d} games, shared noise {correlation}: {100 * wrong / DATA_SETS:.1f} % wrong")
    assert wrong / DATA_SETS <= 0.06


@pytest.mark.parametrize("games", SIZES)
def test_a_target_named_beforehand_errs_as_often_as_promised_and_one_taken_as_lowest_more_often(games: int) -> None:
    """Seven metrics, no true difference, tested as iterations are: the target alone, the six others after Holm."""
    generator = np.random.default_rng([games, 15])
    kinds = [_normal, _skewed, _shares, _normal, _skewed, _shares, _ratings]
    wrong = {"named": 0, "others": 0, "lowest": 0, "lowest rises": 0}
    for _ in range(DATA_SETS):
        measures = {}
        for place, draw in enumerate(kinds):
            sample = draw(generator, 2 * games)
            measures[str(place)] = Measure(sample[:games], sample[games:])
        found = compare(measures, primary="0")
        wrong["named"] += found["0"].outcome in _CALLS
        wrong["others"] += any(one.outcome in _CALLS for one in found.values() if not one.is_primary)
        # How far each lies below what its kind reaches on average, in standard deviations: the lowest is chosen.
        lowest = min(measures, key=lambda name: _standing(kinds[int(name)], measures[name].before))
        chosen = compare({lowest: measures[lowest]}, primary=lowest)[lowest]
        wrong["lowest"] += chosen.outcome in _CALLS
        wrong["lowest rises"] += chosen.difference > 0
    shares = {name: 100 * count / DATA_SETS for name, count in wrong.items()}
    print(
        f"\n{games:2d} games, no true difference: target named beforehand {shares['named']:.1f} % wrong, any of the "
        f"six others {shares['others']:.1f} %; target taken as the reference's lowest {shares['lowest']:.1f} % wrong, "
        f"it rises {shares['lowest rises']:.1f} % of the time"
    )
    assert wrong["named"] / DATA_SETS <= 0.06
    assert wrong["others"] / DATA_SETS <= 0.06
    # Regression to the mean: no test can know that the target was chosen because it was low.
    assert wrong["lowest rises"] / DATA_SETS > 0.75


_CALLS = {Outcome.BETTER, Outcome.WORSE}


def _standing(draw: Draw, values: Sequence[float]) -> float:
    mean, deviation = _typical(draw)
    return (float(np.mean(values)) - mean) / deviation


@cache
def _typical(draw: Draw) -> tuple[float, float]:
    large = draw(np.random.default_rng(0), 4000)
    return float(large.mean()), float(large.std())
