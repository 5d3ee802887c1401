"""Similarity of messages and repeated phrases, counted without a language model, and what agents are told of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.text.display import shortened
from evaluation.text.tokens import STOP_WORDS, stem, tokenize

RECENT_MESSAGES = 5
_WEIGHT_OF_CONSENT = 0.8
_WEIGHT_OF_SHARED_WORDS = 0.55
_CONSENT = re.compile(
    r"\b(agree[ds]?|absolutely|exactly|definitely|indeed|of course|great|good (?:idea|point|plan)|makes sense"
    r"|sounds (?:like|good|great)|let'?s|let us|we (?:all )?(?:should|need|must|have to)|together|wonderful|glad"
    r"|likewise|same|too|also|yes|right)\b",
    re.IGNORECASE,
)


def highest_similarity(text: str, recent: Sequence[str]) -> float:
    """The largest overlap of ``text`` with one of the last five of ``recent``; 0 when there is none.

    The overlap (Jaccard) is shared words over all words of both texts, from 0 to 1; case and punctuation do not count.
    Two texts without a word are as alike as can be (1).
    """
    words = _words(text)
    return max((_overlap(words, _words(other)) for other in recent[-RECENT_MESSAGES:]), default=0.0)


def most_similar(text: str, recent: Sequence[str]) -> str:
    """The one of the last five of ``recent`` that is most like ``text``, the later of equals; empty without any."""
    words = _words(text)
    return max(reversed(recent[-RECENT_MESSAGES:]), key=lambda other: _overlap(words, _words(other)), default="")


def convergence_similarity(messages: Sequence[tuple[str, str]]) -> float | None:
    """Degree to which the speakers of a few messages consent and use each other's words, from 0 to 1.

    0.8 times the share of messages with a word of consent or of common action, plus 0.55 times the mean share of a
    message's content words that another speaker uses too; at most 1. Both weights were tuned on labelled windows of
    five messages so that those which readers call convergent reach 0.6 (``python -m benchmarks.convergence``). Words of
    consent are English ones; in other languages shared words alone count, and 0.6 is not reached.

    Args:
        messages: Speaker and text, in order.

    Returns:
        ``None`` with fewer than two speakers.
    """
    if len({speaker for speaker, _ in messages}) < 2:
        return None
    words = [(speaker, frozenset(stem(word) for word in _words(text) - STOP_WORDS)) for speaker, text in messages]
    echoed = [_share_used_by_others(speaker, own, words) for speaker, own in words]
    consenting = [bool(_CONSENT.search(text)) for _, text in messages]
    return min(1.0, _WEIGHT_OF_CONSENT * fmean(consenting) + _WEIGHT_OF_SHARED_WORDS * fmean(echoed))


def _share_used_by_others(speaker: str, own: frozenset[str], words: Sequence[tuple[str, frozenset[str]]]) -> float:
    others = frozenset().union(*(used for other, used in words if other != speaker))
    return len(own & others) / len(own) if own else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in tokenize(text))


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 1.0


PHRASE_WORDS = 3
_LISTED_PHRASES = 10
_QUOTED_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Repetition:
    """The extent to which an agent repeats itself.

    Attributes:
        overlap: The share of three-word phrases in the recent messages that had been used before in them, 0 to 1.
        phrases: The repeated phrases, the most frequent first, ties in order of first use.
        messages: The recent messages, oldest first.
    """

    overlap: float
    phrases: tuple[str, ...]
    messages: tuple[str, ...]


def repetition_of(messages: Sequence[str]) -> Repetition:
    """Looks at the last five of an agent's own messages.

    The overlap is (phrases - different phrases) / phrases, as in the rubric's anti-repetition, and 0 without a phrase.
    """
    recent = tuple(messages[-RECENT_MESSAGES:])
    counts: Counter[str] = Counter()
    for message in recent:
        words = [token.text for token in tokenize(message)]
        counts.update(" ".join(words[at : at + PHRASE_WORDS]) for at in range(len(words) - PHRASE_WORDS + 1))
    total = counts.total()
    repeated = tuple(phrase for phrase, count in counts.most_common() if count > 1)
    return Repetition((total - len(counts)) / total if total else 0.0, repeated, recent)


def suppression_prompt(messages: Sequence[str], threshold: float) -> str | None:
    """An addition to an agent's prompt, or ``None`` while the overlap is not above ``threshold`` (0 to 1).

    Source: persona evaluation specification, "Repetition Suppression".
    """
    found = repetition_of(messages)
    if found.overlap <= threshold:
        return None
    phrases = "\n".join(f'- "{phrase}"' for phrase in found.phrases[:_LISTED_PHRASES])
    said = "\n".join(f"- {shortened(message, _QUOTED_CHARACTERS)}" for message in found.messages)
    return (
        f"You repeat yourself: {found.overlap:.0%} of the phrases in your last messages had been used before.\n"
        f"Your last messages:\n{said}\n"
        f"Do not use these phrases again; say something that has not been said yet, in other words:\n{phrases}"
    )
