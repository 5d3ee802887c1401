"""The benchmark of scoring measures the checkout that it is told to measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scoring import compare, measure

CHECKOUT = Path(__file__).parents[3]


def test_it_measures_the_real_games() -> None:
    found = measure(passes=1)
    assert found.games == 26
    assert found.messages > 1000
    assert 0 < found.rate == found.messages / found.seconds
    assert Path(found.package).is_relative_to(CHECKOUT)


def test_a_checkout_without_the_package_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        measure(tmp_path, passes=1)


@pytest.mark.long
def test_a_checkout_against_itself_is_compared_in_pairs() -> None:
    lines = list(compare(CHECKOUT, 1, passes=1))
    assert [line.wanted for line in lines[2:]] == [">= 2.5 times"] * 2
    assert all("times (" in line.measured for line in lines[2:])
