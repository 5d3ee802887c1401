"""Word overlap and repeated phrases, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.corrections._similarity import highest_similarity, jaccard, mean_pairwise_similarity
from evaluation.corrections.repetition_suppression import repetition_of, suppression_prompt


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("I trust Bravo.", "i TRUST bravo", 1.0),
        ("I trust Bravo", "I trust Echo", 2 / 4),
        ("one two", "three four", 0.0),
        ("", "", 1.0),
        ("...", "word", 0.0),
    ],
)
def test_jaccard(first: str, second: str, expected: float) -> None:
    assert jaccard(first, second) == pytest.approx(expected)


@given(st.text(), st.text())
def test_jaccard_is_symmetric_and_a_share(first: str, second: str) -> None:
    assert jaccard(first, second) == jaccard(second, first)
    assert 0 <= jaccard(first, second) <= 1
    assert jaccard(first, first) == 1


def test_only_the_last_five_messages_count() -> None:
    assert highest_similarity("a b", ["a b", "1", "2", "3", "4", "5"]) == 0
    assert highest_similarity("a b", []) == 0
    assert highest_similarity("a b", ["a c", "a b c"]) == pytest.approx(2 / 3)


def test_mean_over_pairs() -> None:
    # (a b, a c) = 1/3; (a b, a b) = 1; (a c, a b) = 1/3; mean 5/9
    assert mean_pairwise_similarity(["a b", "a c", "a b"]) == pytest.approx(5 / 9)
    assert mean_pairwise_similarity(["a"]) is None


def test_overlap_of_phrases() -> None:
    # "i think that bravo", "i think that echo": phrases ITT, TTB, ITT, TTE: (4 - 3) / 4
    found = repetition_of(["I think that Bravo", "I think that Echo"])
    assert found.overlap == 0.25
    assert found.phrases == ("i think that",)


def test_a_prompt_only_above_the_threshold() -> None:
    messages = ["I think that Bravo", "I think that Echo"]
    assert suppression_prompt(messages, 0.25) is None
    prompt = suppression_prompt(messages, 0.24)
    assert prompt is not None
    assert '- "i think that"' in prompt
    assert "- I think that Echo" in prompt
    assert "25%" in prompt
    assert suppression_prompt([], 0.0) is None


def test_only_five_messages_are_looked_at() -> None:
    assert repetition_of(["say it again now", *["x"] * 4, "say it again now"]).overlap == 0
