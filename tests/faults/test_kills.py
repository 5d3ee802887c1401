"""One kill of each kind of work that every change goes through; ``make test-long`` has more."""

from __future__ import annotations

from random import Random

import pytest

from tests.faults.kills import KINDS, Tally, Workplace, compare
from tests.long import mostly_long


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("kills"), count=8)


# Dask's workers, clients and schedulers are killed in test_corpora.py.
@pytest.mark.parametrize("kind", mostly_long(["import", "judge", "persona", "experiment"]))
def test_after_a_kill_nothing_is_lost_torn_or_doubled(kind: str, place: Workplace) -> None:
    tally = Tally()
    for attempt in range(10):
        tally.add(KINDS[kind](place, Random(attempt)))
        if tally.kills:
            break
    assert (tally.kills, tally.remarks) == (1, [])


def test_what_is_missing_or_too_much_is_counted(place: Workplace) -> None:
    tally, (first, second, *_) = Tally(), place.wanted
    tables = dict(place.wanted[first])
    rows, digest = tables["messages"]
    held = {first: tables | {"messages": (rows - 1, digest)}, second: place.wanted[second] | {"votes": (99, "")}}
    compare(tally, {**held, "nobody's": {}}, place.wanted)
    tally.count("lost", place.wanted.keys() - held.keys())
    assert (tally.lost, tally.torn, tally.doubled) == (6, 2, 1)
    assert not tally.is_clean
