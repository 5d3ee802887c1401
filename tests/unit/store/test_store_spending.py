"""What calls to models cost: the store adds it up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evaluation.judging.model_client.calls import CallRecord
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_model

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_calls_by_model_and_purpose() -> None:
    store = Store(":memory:")
    common = {"purpose": "checks", "model": "m", "attempt": 1, "started_at": START}
    seconds = [1.0, 2.0, 3.0, 10.0]
    store.llm_calls.add([CallRecord(outcome="answered", seconds=one, cost_usd=0.1, **common) for one in seconds])
    store.llm_calls.add([CallRecord(outcome="timeout", seconds=99.0, **common)])
    (row,) = spending_by_model(store).to_dict("records")
    assert (row["calls"], row["failed"], row["unpriced"]) == (5, 1, 0)
    assert row["median_seconds"] == 2.5
    # Of 1, 2, 3, 10 the 95th percentile lies 0.85 of the way from 3 to 10.
    assert row["slow_seconds"] == pytest.approx(8.95)
    assert round(row["cost_usd"], 9) == 0.4
