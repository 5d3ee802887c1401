"""Similarity of messages by their words, computed without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from evaluation.text.tokens import tokenize

RECENT_MESSAGES = 5


def jaccard(first: str, second: str) -> float:
    """Shared words over all words of both texts, from 0 to 1; case and punctuation do not count.

    Two texts without a word are as alike as can be when both are empty of words (1), else 0.
    """
    return _overlap(_words(first), _words(second))


def highest_similarity(text: str, recent: Sequence[str]) -> float:
    """The largest ``jaccard`` of ``text`` with one of the last five of ``recent``; 0 when there is none."""
    words = _words(text)
    return max((_overlap(words, _words(other)) for other in recent[-RECENT_MESSAGES:]), default=0.0)


def most_similar(text: str, recent: Sequence[str]) -> str:
    """The one of the last five of ``recent`` that is most like ``text``, the later of equals; empty without any."""
    words = _words(text)
    return max(reversed(recent[-RECENT_MESSAGES:]), key=lambda other: _overlap(words, _words(other)), default="")


def mean_pairwise_similarity(texts: Sequence[str]) -> float | None:
    """The mean ``jaccard`` over all pairs of ``texts``; ``None`` for fewer than two."""
    found = [_overlap(a, b) for a, b in combinations([_words(text) for text in texts], 2)]
    return fmean(found) if found else None


def _words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in tokenize(text))


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 1.0
