"""References that the rule missed: marked by a person, a row like others, undone, exported and kept."""

from typing import Any

import pytest

from evaluation.score import Method, RowVerdict
from evaluation.store import Store
from evaluation.transcript import Vote
from evaluation.workflows.judging import mark_reference
from evaluation.workflows.reevaluation import reevaluate
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

WORDS = "the way you dropped Dan back then"
GAME = game_of(
    [
        ("Ann", "Ben voted for Cid in round 1."),
        ("Cid", f"Hm, {WORDS} was odd."),
        ("Ben", "Team only.", {"channel": "private"}),
    ],
    ("Ann", "Ben", "Cid"),
    round=2,
    votes=(Vote(round=1, voter="Ben", target="Cid"),),
)


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    add_evaluated(store, GAME, source_name="x.json")
    return store


def memory(store: Store) -> tuple[float | None, float, float]:
    """Score, right and total; the table of scores says the same as the ledger."""
    result = store.results.load(GAME.id)["memory_accuracy"]
    listed = store.results.metric_scores()[GAME.id]["memory_accuracy"]
    assert (listed.score, listed.coverage) == (result.score, result.coverage)
    return result.score, result.numerator, result.denominator


def mark(store: Store, verdict: RowVerdict = RowVerdict.DOES_NOT_COUNT, **changes: Any) -> Any:
    place = {"message_id": "m1", "words": WORDS} | changes
    return mark_reference(store, GAME.id, **place, verdict=verdict, author="Grace", reason="Nobody was dropped.")


def test_a_marked_reference_is_a_row_like_others_and_is_undone_like_an_override(store: Store) -> None:
    assert memory(store) == (100.0, 1, 1)
    made = mark(store)
    assert memory(store) == (50.0, 1, 2)
    row = store.results.load(GAME.id)["memory_accuracy"].ledger[-1]
    assert (row.id, row.method, row.message_id) == (f"memory_accuracy:m1:4-{4 + len(WORDS)}", Method.HUMAN, "m1")
    assert (row.evidence[0].text, row.reason) == (WORDS, "Grace: Nobody was dropped.")
    assert store.overrides.orphans(GAME.id) == []
    # It can be overridden like any row, and both decisions can be taken back.
    second = store.overrides.add(GAME.id, made.metric, made.row_id, "counts", author="Ada", reason="It was so.")
    assert memory(store) == (100.0, 2, 2)
    store.overrides.undo(second.id, "Ada")
    assert memory(store) == (50.0, 1, 2)
    store.overrides.undo(made.id, "Grace")
    assert memory(store) == (100.0, 1, 1)


def test_it_survives_scoring_again(store: Store) -> None:
    mark(store)
    reevaluate(store, [GAME.id])
    assert memory(store) == (50.0, 1, 2)
