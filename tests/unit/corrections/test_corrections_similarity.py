"""Word overlap and repeated phrases, worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.convergence import LEAST_OF_CONVERGENT, MOST_OF_OTHERS, labelled_windows, share_reaching
from evaluation.corrections.repetition import (
    convergence_similarity,
    highest_similarity,
    repetition_of,
    suppression_prompt,
)


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
    assert highest_similarity(first, [second]) == pytest.approx(expected)


def test_convergence_counts_consent_and_words_that_others_use_too() -> None:
    # Consent in 1 of 2; of Ann's honey and stall Bob uses 1 of 2, and of Bob's honey and sells Ann uses 1 of 2.
    said = [("Ann", "Yes, the honey stall."), ("Bob", "The honey sells.")]
    assert convergence_similarity(said) == pytest.approx(0.8 * 0.5 + 0.55 * 0.5)
    assert convergence_similarity([("Ann", "I agree, honey."), ("Bob", "I agree, honey.")]) == 1.0
    assert convergence_similarity([("Ann", "Bees sting."), ("Bob", "Rain falls.")]) == 0.0


def test_one_speaker_cannot_converge_and_repeating_oneself_is_none() -> None:
    assert convergence_similarity([("Ann", "Honey."), ("Ann", "Honey.")]) is None
    assert convergence_similarity([]) is None
    assert convergence_similarity([("Ann", "Honey."), ("Ann", "Honey."), ("Bob", "Rain.")]) == 0.0


def test_the_tuning_half_of_the_labelled_windows_is_told_apart() -> None:
    windows = [one for one in labelled_windows() if one.window.half == "tuning"]
    reached, convergent = share_reaching(windows, is_convergent=True)
    assert reached >= LEAST_OF_CONVERGENT * convergent
    reached, others = share_reaching(windows, is_convergent=False)
    assert reached <= MOST_OF_OTHERS * others
    assert (convergent, others) == (14, 18)


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
