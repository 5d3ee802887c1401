"""The picture of why messages fail: what it draws and says, and what it believes of what a browser sends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.app_pages.overview.why_messages_fail import (
    COMMON,
    failure_atlas,
    rare_count,
    read_reason,
    trend_words,
)
from evaluation.comparison.movers import Example, FailureReason, IterationFailures, MetricFailures

EXAMPLE = Example("t1", "game", "m1", "Ann", "No.", "Well, fine.")
REASON = FailureReason("coherence", "No.", 3, 0.3, 1, 0.2, (EXAMPLE,))


def failures(*reasons: FailureReason) -> IterationFailures:
    return IterationFailures("v2", "v1", 2, (MetricFailures("coherence", 10, 3, reasons),))


def test_a_row_says_count_share_and_trend_and_leads_to_its_examples() -> None:
    atlas = failure_atlas(failures(REASON), with_rare=False)
    [row] = atlas.data["rows"]
    assert (row["caption"], row["trend"], row["color"]) == (
        "3 messages, 30\u00a0% of those counted",
        "▲ more, was 20\N{NO-BREAK SPACE}%",
        "red",
    )
    assert row["examples"] == ["game · Ann: Well, fine."]
    assert row["words"].startswith("Conversation coherence: No. 3 messages")
    assert atlas.data["groups"][0]["words"] == "3 of 10 counted messages lose all or part of their points"
    [target] = atlas.targets[0]["example"]
    assert (target.transcript_id, target.message_id, target.metric) == ("t1", "m1", "coherence")


@pytest.mark.parametrize(
    ("before", "count_before", "words", "color"),
    [
        (None, 0, "", "gray"),
        (0.3, 3, "= as before", "gray"),
        (0.0, 0, "▲ new", "red"),
        (0.5, 5, "▼ fewer, was 50\N{NO-BREAK SPACE}%", "green"),
    ],
)
def test_the_trend_in_words(before: float | None, count_before: int, words: str, color: str) -> None:
    assert trend_words(replace(REASON, share_before=before, count_before=count_before)) == (words, color)


def test_rare_reasons_are_counted_and_shown_when_asked_for() -> None:
    found = failures(*(replace(REASON, label=f"No {letter}.") for letter in "abcdefgh"))
    assert len(failure_atlas(found, with_rare=False).reasons) == COMMON
    assert len(failure_atlas(found, with_rare=True).reasons) == COMMON + rare_count(found) == 8


@pytest.mark.parametrize(
    "value",
    [None, "reason", {"kind": "reason"}, {"kind": "example", "row": 0}]
    + [{"kind": "reason", "row": row} for row in (2, -1, True, "0")],
)
def test_only_a_row_that_there_is_is_believed(value: object) -> None:
    assert read_reason(value, 2) is None
    assert read_reason({"kind": "reason", "row": 1, "index": 0}, 2) == 1
