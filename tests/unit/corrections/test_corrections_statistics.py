"""Statistics of the gate, worked out by hand."""

from __future__ import annotations

import math

from evaluation.corrections.action_gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.corrections.statistics import SIMILARITY, failure_rates, gate_statistics, outcome_words


def attempt(number: int, adherence: float | None, *, is_similar: bool = False) -> Attempt:
    check = DimensionCheck("adherence", 7.0, MessageScore(adherence, "why"))
    return Attempt(number, f"text {number}", (check,), 0.9 if is_similar else 0.1, is_similar)


def test_outcomes_and_means_of_three_messages() -> None:
    passed, low, similar, retried = attempt(0, 8), attempt(0, 4), attempt(1, 9, is_similar=True), attempt(2, 7)
    silent = attempt(0, None)
    results = [
        GateResult("a", passed, GateOutcome.PASSED, (passed,)),
        GateResult("a", retried, GateOutcome.PASSED_AFTER_RETRY, (low, similar, retried)),
        GateResult("b", silent, GateOutcome.TIMEOUT_PASS_THROUGH, (silent,)),
        GateResult("b", Attempt(0, "unchecked"), None, (Attempt(0, "unchecked"),)),
    ]
    found = gate_statistics(results)
    assert found.messages == 3
    assert found.outcomes[GateOutcome.PASSED] == found.outcomes[GateOutcome.PASSED_AFTER_RETRY] == 1
    assert found.outcomes[GateOutcome.CORRECTED] == 0
    assert found.original_success_rate == 2 / 3
    assert (found.retries, found.regeneration_failure_rate) == (2, 0.5)
    # Committed totals: 8, 7 and the threshold 7 for the silent judge.
    assert found.mean_total == 22 / 3
    assert outcome_words(results) == (
        "1 of 3 messages passed at once.",
        "1 passed once written again; 1 went out unjudged, because no judge answered. What failed most: adherence, 1 "
        "of 2 first texts.",
    )
    assert outcome_words([]) == ("", "")
    never = GateResult("a", None, GateOutcome.FORCED_THROUGH, (low,))
    headline, others = outcome_words([never])
    assert headline == "0 of 1 message passed at once."
    assert others.startswith("1 failed every try (1 not sent).")


def test_first_texts_and_texts_written_anew_fail_apart() -> None:
    low, similar, retried, silent = attempt(0, 4), attempt(1, 9, is_similar=True), attempt(2, 7), attempt(0, None)
    results = [
        GateResult("a", retried, GateOutcome.PASSED_AFTER_RETRY, (low, similar, retried)),
        GateResult("b", silent, GateOutcome.TIMEOUT_PASS_THROUGH, (silent,)),
        GateResult("b", low, None, (low,)),
    ]
    found = failure_rates(results)
    # First texts: 4 fails, the silent judge's is not judged. Anew: 9 and 7 pass, one of the two is too similar.
    assert [(one.check, one.is_retry, one.failed, one.judged, one.unanswered) for one in found] == [
        ("adherence", False, 1, 1, 1),
        ("adherence", True, 0, 2, 0),
        (SIMILARITY, False, 0, 2, 0),
        (SIMILARITY, True, 1, 2, 0),
    ]
    assert found[3].rate == 0.5
    # Wilson for 1 of 2: centre 0.5, half-width 1.96 / (1 + 3.8415 / 2) * sqrt(0.25 / 2 + 3.8415 / 16) = 0.4055.
    assert found[3].interval.low is not None
    assert math.isclose(found[3].interval.low, 0.0945, abs_tol=5e-4)
    assert failure_rates([]) == []
