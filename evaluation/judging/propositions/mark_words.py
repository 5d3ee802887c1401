"""Put a judge's mark into words: the mark itself, its meaning for the claim, and the score that follows from it."""

from __future__ import annotations

_BANDS = ((1, "plainly false"), (4, "mostly false"), (6, "undecided"), (9, "mostly true"))
_CERTAIN = "certainly true"
_UNEARNED = {
    "data_missing": "there was nothing to judge, so this 9 says nothing about the agent",
    "precondition": "the claim does not apply here, so this 9 says nothing about the agent",
}


def meaning_of(mark: float) -> str:
    """The band of the prompt that a mark from 0 to 9 stands for: "mostly true"."""
    return next((words for below, words in _BANDS if mark < below), _CERTAIN)


def mark_words(mark: int, *, is_inverted: bool, unearned: str = "") -> str:
    """The reading of a mark, the same in every output: "8 of 9, mostly true; the claim names a fault: score 1 of 9".

    Args:
        mark: What the judge gave, 0 to 9.
        is_inverted: Whether the claim describes something bad, so that the score is 9 less the mark.
        unearned: ``data_missing`` or ``precondition`` where the mark says nothing about the agent; else empty.
    """
    if unearned:
        return f"{mark} of 9: {_UNEARNED.get(unearned, 'this says nothing about the agent')}"
    words = f"{mark} of 9, {meaning_of(mark)}"
    return f"{words}; the claim names a fault: score {9 - mark} of 9" if is_inverted else f"{words}"
