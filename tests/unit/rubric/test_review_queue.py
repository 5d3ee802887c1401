"""Rows worth a look, and how far each decision would move the score, worked out by hand."""

from __future__ import annotations

import pytest

from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.rubric.rows_in_doubt import ReviewKind, review_items
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict, decided, summarise


def row(name: str, counts: bool | None, **fields: object) -> LedgerRow:
    return decided(f"x:{name}", "message", counts, "because", message_id=name, **fields)


def of(result: MetricResult) -> list[tuple[str | None, ReviewKind]]:
    return [(one.row.message_id, one.kind) for one in review_items({result.name: result})]


def test_what_a_decision_on_an_unverified_reference_could_change() -> None:
    # 3 of 4 settled: 75 %. The fifth would make it 4/5 = 80 or 3/5 = 60; left out it stays.
    rows = [row(str(n), n > 0) for n in range(4)] + [row("open", None)]
    [item] = review_items({"memory_accuracy": summarise(MEMORY_ACCURACY, rows)})
    assert (item.kind, item.row.message_id) == (ReviewKind.UNVERIFIED, "open")
    assert (item.before, item.if_counts, item.if_not, item.if_excluded) == (75.0, 80.0, 60.0, 75.0)
    assert [item.effect(one) for one in RowVerdict] == ["+5.0 points", "-15.0 points", "+0.0 points"]
    assert item.stake == pytest.approx(15.0)
    # 75 is below 80 and 80 is not; above 80 or below 60 nothing decides.
    decides = [item.decides({"memory_accuracy": limit}) for limit in (80.0, 75.0, 80.1, 60.0)]
    assert decides == [True, True, False, False]


def test_what_a_decision_on_a_settled_row_could_change() -> None:
    # 2 of 2 count. Without the bare one: 1/2 = 50 when it does not count, still 1/1 when it is left out.
    rows = [row("bare", True, details={"review": {"kind": "bare"}}), row("deep", True)]
    [item] = review_items({"strategic_depth": summarise(STRATEGIC_DEPTH, rows)})
    assert item.kind is ReviewKind.BARE_KEYWORD
    assert (item.before, item.if_counts, item.if_not, item.if_excluded) == (100.0, 100.0, 50.0, 100.0)


def test_a_pending_row_offers_the_score_that_each_decision_gives() -> None:
    # Nothing is settled, so there is no score that could move: counting gives 100 %, the other 0 %, leaving out none.
    [item] = review_items({"memory_accuracy": summarise(MEMORY_ACCURACY, [row("open", None)])})
    effects = ["the score is then 100.0 %", "the score is then 0.0 %", "no score"]
    assert [item.effect(one) for one in RowVerdict] == effects
    assert item.stake == 100.0


def test_each_kind_is_found_in_its_metric() -> None:
    depth = summarise(STRATEGIC_DEPTH, [row("a", False, details={"review": {"kind": "long"}}), row("b", False)])
    assert of(depth) == [("a", ReviewKind.NO_KEYWORD)]
    role = summarise(ROLE_CONSISTENCY, [row("a", None, details={"marks": ["name"]}), row("b", None), row("c", True)])
    assert of(role) == [("a", ReviewKind.UNCODED)]
    assert of(summarise(COHERENCE, [row("a", True), row("b", False)])) == []
    links = {"a": (True, 10.0), "b": (True, 60.0), "c": (False, 95.0), "d": (False, 40.0)}
    rows = [row(name, counts, details={"link_strength": strength}) for name, (counts, strength) in links.items()]
    assert set(of(summarise(COHERENCE, rows))) == {("a", ReviewKind.WEAK_LINK), ("c", ReviewKind.STRONG_LINK)}


def test_what_a_person_or_judge_decided_is_not_offered_again() -> None:
    rows = [row("a", None, method=Method.HUMAN), row("b", None, method=Method.JUDGE), row("c", True)]
    assert of(summarise(MEMORY_ACCURACY, rows)) == []


def test_the_row_with_most_at_stake_comes_first() -> None:
    rows = [row("a", True, details={"review": {}}), *(row(f"n{n}", True) for n in range(3))]
    depth = summarise(STRATEGIC_DEPTH, [*rows, row("z", False, details={"review": {"kind": "long"}})])
    memory = summarise(MEMORY_ACCURACY, [row("m", None)])
    found = review_items({"strategic_depth": depth, "memory_accuracy": memory})
    # The only reference there is decides the whole score.
    assert [one.row.message_id for one in found] == ["m", "z"]
