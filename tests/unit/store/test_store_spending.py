"""What runs cost, and which of their answers were known before: the store adds it up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evaluation.judging.model_client.calls import CallRecord
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_model, spending_by_run

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_answers_kept_from_before_are_told_from_new_ones() -> None:
    store = Store(":memory:")
    with store.unit(write=True) as cursor:
        cursor.execute("INSERT INTO agents (id, display_name) VALUES ('ada', 'Ada')")
        cursor.execute(
            "INSERT INTO evaluation_runs (agent_id, status, dimensions, sample_size, model, token_usage, created_at, "
            "completed_at) VALUES ('ada', 'completed', ['adherence'], 2, 'm', "
            "?, '2026-01-02 10:00:00+00', '2026-01-02 10:00:04+00')",
            ['{"calls": 1, "input_tokens": 90, "cost_usd": 0.5}'],
        )
        for key, day in (("old", "01-01 10:00:00"), ("new", "01-02 10:00:02"), ("other", "01-01 10:00:00")):
            cursor.execute(
                "INSERT INTO judgements (key, model, prompt, answer, created_at) VALUES (?, 'm', '{}', '{}', ?)",
                [key, f"2026-{day}+00"],
            )
        for key in ("old", "new", "new", "offline"):
            cursor.execute(
                "INSERT INTO evaluation_scores (evaluation_run_id, dimension, proposition_id, score, reasoning, "
                "judgement_key) SELECT id, 'adherence', 'p', 5, 'so', ? FROM evaluation_runs",
                [key],
            )
    (run,) = spending_by_run(store).to_dict("records")
    # Of two answers of a model ("new" counts for two scores) one was there the day before.
    assert (run["answers"], run["kept"]) == (2, 1)
    assert (run["calls"], run["input_tokens"], run["cost_usd"], run["seconds"]) == (1, 90, 0.5, 4.0)


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
