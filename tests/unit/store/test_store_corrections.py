"""Configuration and log of runtime corrections, in a real database file."""

from __future__ import annotations

import json
from dataclasses import replace

from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.store import Store
from tests.stored_rows import correction_log


def checked(score: float | None, tokens: int = 0) -> tuple[DimensionCheck, ...]:
    return (DimensionCheck("adherence", 7.0, MessageScore(score, "why", ("do it",), tokens, 1 if tokens else 0)),)


def corrected() -> GateResult:
    attempts = (Attempt(0, "dull", checked(3, 20), 0.25, feedback="be bold"), Attempt(1, "bold", checked(8), 0.5))
    return GateResult("michael", attempts[1], GateOutcome.PASSED_AFTER_RETRY, attempts)


def test_every_attempt_is_logged_with_the_group_and_its_outcome(store: Store) -> None:
    group = store.corrections.add(corrected())
    log = correction_log(store, "michael")
    assert log["group_id"].tolist() == [group, group]
    assert log["outcome"].tolist() == ["passed_after_retry"] * 2
    assert log["attempt_text"].tolist() == ["dull", "bold"]
    assert log["original_text"].tolist() == ["dull", "dull"]
    assert log["corrected_text"].tolist() == ["bold", "bold"]
    assert log["is_committed"].tolist() == [False, True]
    assert log["total_score"].tolist() == [3, 8]
    assert log["similarity_score"].tolist() == [0.25, 0.5]
    assert log["feedback"].tolist() == ["be bold", ""]
    assert json.loads(log["dimension_scores"][0])["adherence"] == {
        "score": 3.0,
        "threshold": 7.0,
        "reasoning": "why",
        "recommendations": ["do it"],
        "calls": 0,
        "cost_usd": 0.0,
    }
    assert json.loads(log["token_usage"][0]) == {"input_tokens": 20, "output_tokens": 1}
    assert log["token_usage"].isna().tolist() == [False, True]
    assert correction_log(store, "dwight").empty


def test_messages_carry_the_experiment_that_they_were_checked_in(store: Store) -> None:
    experiment = "0b9f6f6e-5f5c-5d6e-9b3e-0123456789ab"
    store.corrections.add(corrected(), experiment_id=experiment)
    store.corrections.add(corrected())
    assert [one.run for one in store.corrections.messages()] == ["", experiment]
    assert [one.run for one in store.corrections.messages(run="0B9F")] == [experiment]
    assert store.corrections.messages(run="ffff") == []


def test_what_passed_at_once_or_was_never_sent_has_no_corrected_text(store: Store) -> None:
    passed = Attempt(0, "fine", checked(9))
    store.corrections.add(GateResult("a", passed, GateOutcome.PASSED, (passed,)))
    store.corrections.add(GateResult("b", None, GateOutcome.FORCED_THROUGH, (Attempt(0, "bad", checked(1)),)))
    log = correction_log(store)
    assert log["corrected_text"].isna().all()
    assert dict(zip(log["agent_id"], log["is_committed"], strict=True)) == {"a": True, "b": False}


def test_what_was_not_checked_is_not_logged(store: Store) -> None:
    only = Attempt(0, "free")
    assert store.corrections.add(GateResult("a", only, None, (only,))) == ""
    assert correction_log(store).empty


def test_control_characters_of_messages_and_judges_are_not_logged(store: Store) -> None:
    hostile = "a\x00b\x1b[31m\x9bc\x07"
    check = DimensionCheck("adherence", 7.0, MessageScore(3, f"one\n{hostile}", (f"two\t{hostile}",)))
    first = Attempt(0, f"three\r\n{hostile}\ud800", (check,), 0.25, feedback=f"four {hostile}")
    second = Attempt(1, f"five {hostile} \u200eعربي", (check,), 0.25)
    store.corrections.add(GateResult("michael", second, GateOutcome.PASSED_AFTER_RETRY, (first, second)))
    (found,) = store.corrections.messages()
    (kept,) = found.result.attempts[0].checks
    assert (kept.found.reasoning, kept.found.recommendations) == ("one\nabc", ("two\tabc",))
    assert [one.text for one in found.result.attempts] == ["three\nabc?", "five abc \u200eعربي"]
    assert found.result.attempts[0].feedback == "four abc"
    assert set(correction_log(store)["corrected_text"]) == {"five abc \u200eعربي"}
    assert set(correction_log(store)["original_text"]) == {"three\nabc?"}


def test_messages_come_back_with_their_attempts_newest_first(store: Store) -> None:
    first = store.corrections.add(corrected())
    similar = Attempt(0, "again", (), 0.6, is_similar=True)
    second = store.corrections.add(GateResult("dwight", similar, GateOutcome.FORCED_THROUGH, (similar,)))
    newest, oldest = store.corrections.messages()
    assert (newest.id, oldest.id) == (second, first)
    assert newest.at >= oldest.at
    # Tokens are added up over the dimensions of an attempt, so a single check has none of its own any more.
    kept = [replace(each, checks=checked(each.checks[0].found.score)) for each in corrected().attempts]
    assert oldest.result == replace(corrected(), attempts=tuple(kept), committed=kept[1])
    assert newest.result.attempts == (similar,)
    assert [one.id for one in store.corrections.messages("michael")] == [first]
    assert [one.id for one in store.corrections.messages(outcome=GateOutcome.FORCED_THROUGH)] == [second]
    assert [one.id for one in store.corrections.messages(limit=1)] == [second]
    assert (store.corrections.count(), store.corrections.count("michael"), store.corrections.count("x")) == (2, 1, 0)
