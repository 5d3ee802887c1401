"""Numbers and statuses as words."""

from __future__ import annotations

import pytest

from dashboard.shared.formatting import (
    duration_text,
    fraction_text,
    look,
    score_text,
    share_text,
    spread_text,
    threshold_text,
    told_apart,
    usd_text,
)
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.keep_or_revert import Choice
from evaluation.rubric.definitions import ENGAGEMENT, MEMORY_ACCURACY, PERSONALITY_DIVERSITY
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import LIKERT, PERCENT, RowVerdict, Status
from evaluation.store import JobState


def plain(text: str) -> str:
    """Numbers stand beside their units with a no-break space; here the plain one reads better."""
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("score", "scale", "threshold", "words"),
    [
        (82.44, PERCENT, 80.0, "82.4 %"),
        (3.5, LIKERT, 3.0, "3.5 of 5"),
        (None, PERCENT, 80.0, "no score"),
        (float("nan"), PERCENT, None, "no score"),
        # 79.97 failed: "80.0 %" beside "at least 80 %, failed" would look like a mistake.
        (79.97, PERCENT, 80.0, "79.97 %"),
        (79.9996, PERCENT, 80.0, "79.9996 %"),
        (2.96, LIKERT, 3.0, "2.96 of 5"),
        (80.0, PERCENT, 80.0, "80.0 %"),
    ],
)
def test_scores_carry_their_unit_and_the_digits_that_tell(score: float, scale, threshold, words: str) -> None:
    assert plain(score_text(score, scale, threshold)) == words


def test_thresholds_are_words() -> None:
    assert plain(threshold_text(80.0, PERCENT)) == "at least 80 %"
    assert threshold_text(3.0, LIKERT) == "at least 3 of 5"


def test_denominators_carry_their_noun() -> None:
    assert fraction_text(17, 20, MEMORY_ACCURACY) == "17 of 20 references"
    assert fraction_text(1, 1, PERSONALITY_DIVERSITY) == "1 of 1 player"
    assert fraction_text(7, 2, ENGAGEMENT) == "mean of 2 ratings"


def test_a_spread_needs_two_values() -> None:
    assert spread_text([71.0], PERCENT) == ""
    assert plain(spread_text([88.21, 71.0, 80.0], PERCENT)) == "71.0 to 88.2 %"
    assert spread_text([3.0, 4.0], LIKERT) == "3.0 to 4.0"
    assert plain(spread_text([100.0, 99.99], PERCENT)) == "all 100.0 %"


def test_unknown_money_and_shares_are_unknown_not_zero() -> None:
    assert (plain(usd_text(None)), plain(share_text(None))) == ("unknown", "unknown")
    assert (plain(usd_text(1.754)), plain(share_text(0.768))) == ("1.75 USD", "77 %")
    # Two dollar signs in one caption would be set as a formula.
    assert "$" not in usd_text(3.0)


def test_durations_use_the_unit_a_person_would() -> None:
    assert [duration_text(seconds) for seconds in (0.2, 8, 180, 7200)] == ["0 s", "8 s", "3 min", "2.0 h"]


@pytest.mark.parametrize("kind", [Status, RowVerdict, VerdictStatus, CheckState, JobState, Choice])
def test_every_status_has_a_symbol_and_a_word(kind) -> None:
    for status in kind:
        appearance = look(status)
        assert appearance.symbol
        assert appearance.word
        assert "_" not in appearance.label


def test_of_two_equal_labels_the_second_gets_its_number() -> None:
    assert told_apart({"a": "Run", "b": "Other", "c": "Run"}) == {"a": "Run", "b": "Other", "c": "Run (2)"}
