"""Sentiment by counting words, without a model. English only; a rough guide, not a judgement.

Source: ADR-010, ``extract_sentiment_scores``, with its word lists. Unlike there, words are told from punctuation
("great!" is "great"), and a negation before a word turns it round ("not good").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.text.tokens import tokenize
from evaluation.transcript import Message

POSITIVE = frozenset(
    ("good", "great", "love", "excellent", "amazing", "helpful", "useful", "agree", "yes", "definitely")
)
NEGATIVE = frozenset(("bad", "terrible", "hate", "awful", "useless", "disagree", "no", "never", "problem", "issue"))
NEUTRAL = 0.5

_NEGATIONS = frozenset({"no", "not", "never", "hardly", "without", "cannot"})
_ANSWERS = frozenset({"yes", "no"})
_BREAK = re.compile(r"[,.;:!?()\[\]\n\u2026\u2013\u2014]")
_REACH = 2
"""Words between a negation and what it turns round: "not a good", "don't really agree"."""


@dataclass(frozen=True, slots=True)
class Sentiment:
    """The sentiment of one speaker.

    Attributes:
        score: Mean over their messages, 0 (negative) to 1 (positive); a message without any of the words counts 0.5.
        messages: How many messages.
        telling: How many of them hold any of the words. With none the score says nothing.
    """

    score: float
    messages: int
    telling: int


def message_sentiment(text: str) -> float | None:
    """The share of positive words among the telling ones, 0 to 1; ``None`` when there are none.

    Each word counts once, and once more when it also occurs negated. A "no" or "never" that turns another word round
    does not count itself: "no problem" is positive. A negation holds up to the next punctuation mark. A "yes" or "no"
    that stands alone counts only where no other word tells: "No, I agree." is positive, "No." negative.
    """
    found: dict[tuple[str, bool], bool] = {}
    answers: dict[str, bool] = {}
    for words in _clauses(text):
        if len(words) == 1 and words[0] in _ANSWERS:
            answers[words[0]] = words[0] in POSITIVE
            continue
        for place, word in enumerate(words):
            if not _is_telling(word) or (_negates(word) and any(map(_turns, words[place + 1 : place + 1 + _REACH]))):
                continue
            is_negated = _turns(word) and any(map(_negates, words[max(0, place - _REACH) : place]))
            found[word, is_negated] = (word in POSITIVE) != is_negated
    counted = [*found.values()] or [*answers.values()]
    return sum(counted) / len(counted) if counted else None


def _clauses(text: str) -> Iterator[list[str]]:
    """The words between two marks of punctuation, in order; a negation does not reach beyond its clause."""
    words: list[str] = []
    end = 0
    for token in tokenize(text):
        if words and _BREAK.search(text, end, token.start):
            yield words
            words = []
        words.append(token.text)
        end = token.end
    if words:
        yield words


def _is_telling(word: str) -> bool:
    return word in POSITIVE or word in NEGATIVE


def _turns(word: str) -> bool:
    """Whether a negation before it turns the word round."""
    return _is_telling(word) and not _negates(word) and word != "yes"


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def sentiments(messages: Sequence[Message]) -> dict[str, Sentiment]:
    """Every speaker's sentiment, in the order of their first message."""
    by_speaker: defaultdict[str, list[float | None]] = defaultdict(list)
    for message in messages:
        by_speaker[message.speaker].append(message_sentiment(message.text))
    return {speaker: _mean(scores) for speaker, scores in by_speaker.items()}


def _mean(scores: Sequence[float | None]) -> Sentiment:
    total = sum(NEUTRAL if score is None else score for score in scores)
    return Sentiment(total / len(scores), len(scores), sum(score is not None for score in scores))
