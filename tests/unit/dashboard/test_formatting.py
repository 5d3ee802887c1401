"""Numbers and statuses as words."""

from __future__ import annotations

import pytest

from dashboard.shared.formatting import (
    look,
    score_text,
    share_text,
    spread_text,
    usd_text,
)
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.keep_or_revert import Choice
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import LIKERT, PERCENT, RowVerdict, Status


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


@pytest.mark.parametrize("kind", [Status, RowVerdict, VerdictStatus, CheckState, Choice])
def test_every_status_has_a_symbol_and_a_word(kind) -> None:
    for status in kind:
        appearance = look(status)
        assert appearance.symbol
        assert appearance.word
        assert "_" not in appearance.label
