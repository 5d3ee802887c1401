"""A simulation with known truth, for ``make test-long``: what intervals of alpha hold, and what is read from it.

Two raters answer a question about each game; one gives the game's own answer, the other the opposite of it in 10 % of
games. With both answers equally common alpha is 0.80, exactly what is called reliable; with one answer in 80 % of games
it is about 0.72. Prints the figures of docs/deciding.md.
"""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.agreement.between_raters import FEWEST_FOR_READING, ITEMS, ItemAgreement, RatingTable, item_agreement

pytestmark = pytest.mark.long

SETS = 2000
DIFFERING = 0.1
QUESTION = ITEMS[1]


def _answers(generator: np.random.Generator, games: int, common: float) -> np.ndarray:
    first = generator.random(games) < common
    return np.stack([first, first ^ (generator.random(games) < DIFFERING)]).astype(float)


def _item(answers: np.ndarray) -> ItemAgreement:
    games = tuple(map(str, range(answers.shape[1])))
    return item_agreement(RatingTable(("Ann", "Ben"), games, {item.name: answers for item in ITEMS}), QUESTION)


@pytest.mark.parametrize("games", [3, 6, 10, 20, 40])
@pytest.mark.parametrize("common", [0.5, 0.8])
def test_intervals_of_alpha(common: float, games: int) -> None:
    truth = _item(_answers(np.random.default_rng(5), 200_000, common)).alpha.value
    generator = np.random.default_rng([games, round(10 * common)])
    found = [_item(_answers(generator, games, common)) for _ in range(SETS)]
    defined = [one for one in found if one.alpha.is_known]
    known = [one.alpha.interval for one in defined if one.alpha.interval.is_known]
    held = sum(one.low <= truth <= one.high for one in known if one.low is not None and one.high is not None)
    same = sum(one.alpha.interval.note == "none, all values equal" for one in defined)
    reliable = sum(one.reading == "reliable" for one in defined)
    at_sight = sum(one.alpha.value >= 0.8 for one in defined)
    print(
        f"\n{games:2d} games, alpha {truth:.2f}: of {SETS} sets {len(defined)} have an alpha, {len(known)} an interval "
        f"and {same} raters who never differ; intervals hold it in {100 * held / max(1, len(known)):.0f} %, "
        f"{100 * held / (len(known) + same):.0f} % counting those as 1.00 to 1.00; "
        f"alpha alone is 0.80 or more in {at_sight}, {reliable} are read as reliable"
    )
    assert all(one.high > one.low for one in known if one.low is not None and one.high is not None)
    if games < FEWEST_FOR_READING:
        assert {one.reading for one in defined} == {"from too few games"}
    else:
        assert held >= 0.9 * len(known)
        # At exactly 0.80, 2.5 % of intervals should lie above it; a bootstrap of 40 games is a little too narrow.
        assert reliable <= 0.08 * SETS
