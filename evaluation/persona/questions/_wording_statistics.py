"""Statistics of wording for a judge, as evidence: repeated phrases, and words typical of one speaker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from evaluation.text.tokens import STOP_WORDS, tokenize

PHRASE_LENGTH = 3
"""Words of a phrase (n-gram) that is looked for again."""

_MOST_MESSAGES = 200
_MOST_WORDS = 1_000
_MOST_SHOWN = 5
_OPENING = 3


def _words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)[:_MOST_WORDS]]


def _phrases(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[offset:] for offset in range(PHRASE_LENGTH)), strict=False))


def phrase_overlap(texts: Sequence[str]) -> float | None:
    """The share of three-word phrases that an earlier one of ``texts`` already holds.

    Args:
        texts: Messages in order; the last 200 count, the first 1,000 words of each.

    Returns:
        From 0 (nothing recurs) to 1; ``None`` when no message after the first has three words.
    """
    seen: set[tuple[str, ...]] = set()
    again = total = 0
    for position, text in enumerate(texts[-_MOST_MESSAGES:]):
        phrases = _phrases(_words(text))
        if position:
            total += len(phrases)
            again += sum(phrase in seen for phrase in phrases)
        seen.update(phrases)
    return again / total if total else None


def repetition_evidence(texts: Sequence[str]) -> str:
    """Repetition in one agent's messages, in words for a judge; empty when there is nothing to compare."""
    overlap = phrase_overlap(texts)
    if overlap is None:
        return ""
    recent = texts[-_MOST_MESSAGES:]
    lines = [
        f"{len(recent)} messages. Of the three-word phrases after the first, {overlap:.0%} stand in an earlier one."
    ]
    phrases = Counter(phrase for text in recent for phrase in set(_phrases(_words(text))))
    lines += _most_common("In several messages", {" ".join(phrase): count for phrase, count in phrases.items()})
    openings = Counter(" ".join(_words(text)[:_OPENING]) for text in recent)
    lines += _most_common("Openings that recur", openings)
    return "\n".join(lines)


def _most_common(label: str, counts: Mapping[str, int]) -> list[str]:
    # By count, then by the alphabet: the same messages must give the same prompt.
    again = sorted((-count, text) for text, count in counts.items() if count > 1 and text)
    shown = ", ".join(f"{text!r} ({-count})" for count, text in again[:_MOST_SHOWN])
    return [f"{label}: {shown}."] if shown else []


def vocabulary_evidence(said: Mapping[str, Sequence[str]]) -> str:
    """Similarity of the speakers' vocabularies, in words for a judge; empty for fewer than two speakers.

    Similarity is shared words over all words of two speakers (Jaccard), function words left out.

    Args:
        said: The messages of each speaker.
    """
    words = {
        speaker: Counter(word for text in texts for word in _words(text) if word not in STOP_WORDS)
        for speaker, texts in said.items()
    }
    if len(words) < 2:
        return ""
    pairs = {(one, other): _shared(words[one], words[other]) for one, other in combinations(words, 2)}
    closest = max(pairs, key=lambda pair: pairs[pair])
    lines = [
        f"{len(words)} speakers. Two of them share {fmean(pairs.values()):.0%} of their words on average, "
        f"{closest[0]} and {closest[1]} most ({pairs[closest]:.0%})."
    ]
    users = Counter(word for counted in words.values() for word in counted)
    for speaker, counted in words.items():
        own = sorted((word for word in counted if users[word] == 1), key=lambda word: (-counted[word], word))
        shown = ", ".join(own[:_MOST_SHOWN]) or "none"
        lines.append(f"{speaker}: {counted.total()} words, {len(counted)} different; only they say: {shown}.")
    return "\n".join(lines)


def _shared(one: Counter[str], other: Counter[str]) -> float:
    union = len(one.keys() | other.keys())
    return len(one.keys() & other.keys()) / union if union else 0.0
