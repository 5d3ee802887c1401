"""A person has the last word on a row, then a judge, then the rule."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evaluation.overrides import Override
from evaluation.precedence import results_as_they_stand
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import LedgerRow, Method, RowVerdict, summarise

COUNTS, NOT, EXCLUDED = RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT, RowVerdict.EXCLUDED
RULED = summarise(
    DEFINITIONS["coherence"],
    # Two of four rows count: 50 points.
    [
        LedgerRow(name, "message", verdict, "rule", numerator=float(verdict is COUNTS), denominator=1.0)
        for name, verdict in {"a": COUNTS, "b": NOT, "c": COUNTS, "d": NOT}.items()
    ],
    threshold=60,
)


def judged(row_id: str, verdict: RowVerdict, metric: str = "coherence") -> RowDecision:
    return RowDecision("t", metric, row_id, verdict, "label", "read it", 0.9, (), "live", "gpt", "key")


def overruled(row_id: str, verdict: RowVerdict, metric: str = "coherence") -> Override:
    return Override(1, "t", metric, row_id, verdict, "Ann", "knows", datetime(2025, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("decisions", "overrides", "score", "methods"),
    [
        ([], [], 50.0, {}),
        # Three of four count.
        ([judged("b", COUNTS)], [], 75.0, {"b": Method.JUDGE}),
        ([], [overruled("b", COUNTS)], 75.0, {"b": Method.HUMAN}),
        # The judge and the person disagree: the person's word stands, and two of four count.
        ([judged("b", COUNTS)], [overruled("b", NOT)], 50.0, {"b": Method.HUMAN}),
        # Two of three: the person takes a row out, the judge adds none.
        ([judged("a", NOT), judged("d", COUNTS)], [overruled("b", EXCLUDED)], 200 / 3, {"a": Method.JUDGE}),
        # Rows and metrics that there are not change nothing.
        ([judged("z", COUNTS)], [overruled("z", NOT), overruled("a", NOT, "engagement")], 50.0, {}),
    ],
)
def test_the_last_word_on_a_row(
    decisions: list[RowDecision], overrides: list[Override], score: float, methods: dict[str, Method]
) -> None:
    found = results_as_they_stand({"coherence": RULED}, decisions, overrides)["coherence"]
    assert found.score == pytest.approx(score)
    rows = {row.id: row for row in found.ledger}
    assert list(rows) == ["a", "b", "c", "d"]
    assert {name: rows[name].method for name in methods} == methods


def test_what_was_replaced_is_kept() -> None:
    found = results_as_they_stand({"coherence": RULED}, [judged("b", COUNTS)], [overruled("b", NOT)])["coherence"]
    assert [(row.id, row.method) for row in found.replaced] == [("b", Method.RULE), ("b", Method.JUDGE)]
